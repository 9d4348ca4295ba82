import { isJsonObject } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import { visibleJson } from '../../lib/text/visible-text.js';
import { commentLine } from '../declarations/doc-comment.js';
import { declarePythonModule } from '../declarations/python/python.js';
import { docstring, pythonString } from '../declarations/python/python-text.js';
import type { Detail } from '../declarations/typescript/typescript.js';
import { serverDocs, toolDocs } from '../declarations/typescript/typescript-docs.js';
import { snakeCaseNames } from '../package-names.js';
import { allToolNames, askingTools } from '../snapshot.js';
import { PYTHON_MCP_CLIENT_STUB, PYTHON_WRAPPERS } from './python-client.js';
import { metaOf, namesOf, type ServerMeta, type ServerPackage, sortedTools } from './server-package.js';
import { unavailabilityOf, unavailablePythonModule } from './unavailable.js';

/**
 * `servers/<module>/` for Python: the functions, which are fast to import, and stubs with their types. At run time a `TypedDict` is
 * only a dictionary, so its name is an alias of `dict`. Names of tools never begin with `_` and a letter: those are ours.
 */
export function pythonPackage({ server, isBrief }: ServerPackage): ReadonlyMap<string, string> {
  const unavailable = unavailabilityOf(server);
  if (unavailable !== undefined) return new Map([['__init__.py', unavailablePythonModule(unavailable)]]);
  const tools = sortedTools(server);
  const names = namesOf(tools, snakeCaseNames(allToolNames(server)));
  const stubs = isBrief ? undefined : declarePythonModule({ functionNames: names, tools });
  const asking = askingTools(server.tools);
  const functions = tools.map((tool) => {
    const detail = isBrief ? 'compact' : 'full';
    return functionText(tool, names.get(tool.name) as string, detail, asking.has(tool.name));
  });
  const text = `${docstring([commentLine(server.name, 80), ...serverDocs(server.description ?? '', 'compact')], '')}
from client._wrappers import attribute as _attribute, caller as _caller, submodules as _submodules

__meta__ = ${metaText(metaOf(server, names))}
__all__ = [tool["exportName"] for tool in __meta__["tools"]]
#: inputs ${inputsText(tools, names)}
_type_names = ${pythonString((stubs?.typeNames ?? []).join(' '))}
_call = _caller(${pythonString(server.id)})
_submodules(__name__, __all__)


def __getattr__(name):
    return _attribute(__name__, name, _type_names.split(), __all__)


${functions.join('\n\n')}`;
  const files = new Map([['__init__.py', text]]);
  if (stubs === undefined) return files;
  return files.set('__init__.pyi', stubs.functionsText).set('_types.pyi', stubs.typesText);
}

/** The files that all servers share: the client's types, and the code of the functions. */
export const PYTHON_CLIENT_FILES: ReadonlyMap<string, string> = new Map([
  ['servers/__init__.py', '"""The connected servers, a module each."""\n'],
  ['servers/py.typed', ''],
  ['client/py.typed', ''],
  ['client/mcp_client.pyi', PYTHON_MCP_CLIENT_STUB],
  ['client/_wrappers.py', PYTHON_WRAPPERS],
]);

function functionText(tool: Tool, name: string, detail: Detail, asks: boolean): string {
  const lines = toolDocs(tool, name, [], detail, { asks });
  const keys = argumentNames(tool);
  if (keys !== '') lines.push(`Arguments: ${keys}`);
  // If a property has the name of the first argument, the name belongs to the property.
  const { properties } = tool.inputSchema ?? {};
  const slash = isJsonObject(properties) && Object.hasOwn(properties, 'arguments') ? '/, ' : '';
  return `async def ${name}(arguments=None, ${slash}**named):
${docstring(lines, '    ')}    return await _call(${pythonString(tool.name)}, arguments, named)
`;
}

/**
 * The parameters of each function, as JSON on one line, for the check before the program starts: `!` marks required ones, `*` means
 * that more are allowed. Null if names do not describe the input.
 */
function inputsText(tools: readonly Tool[], names: ReadonlyMap<string, string>): string {
  return visibleJson(Object.fromEntries(tools.map((tool) => [names.get(tool.name), takenBy(tool)])));
}

function takenBy({ inputSchema }: Tool): string[] | null {
  if (inputSchema === undefined || NOT_BY_NAME.some((keyword) => Object.hasOwn(inputSchema, keyword))) return null;
  const { properties, required, additionalProperties } = inputSchema;
  if (inputSchema.type !== 'object' || !isJsonObject(properties)) return null;
  const keys = Object.keys(properties);
  // `!` and `*` have a meaning here.
  if (keys.length > MAX_CHECKED_ARGUMENTS || keys.some((key) => /[!*]/.test(key))) return null;
  const isRequired = (key: string) => {
    const property = properties[key];
    const hasDefault = isJsonObject(property) && property.default !== undefined;
    return Array.isArray(required) && required.includes(key) && !hasDefault;
  };
  return [...keys.map((key) => (isRequired(key) ? `${key}!` : key)), ...(additionalProperties === false ? [] : ['*'])];
}

/** Keywords that add or change names. */
const NOT_BY_NAME = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties', 'dependentSchemas'];
const MAX_CHECKED_ARGUMENTS = 200;

const MAX_ARGUMENTS_CHARACTERS = 600;

/** Shown by Python's `help()` at run time: `owner, repo, page?`. */
function argumentNames({ inputSchema }: Tool): string {
  if (!isJsonObject(inputSchema?.properties)) return '';
  const required = Array.isArray(inputSchema.required) ? inputSchema.required : [];
  const keys = Object.keys(inputSchema.properties).map((key) => (required.includes(key) ? key : `${key}?`));
  return commentLine(keys.slice(0, 100).join(', '), MAX_ARGUMENTS_CHARACTERS);
}

function metaText({ serverId, serverName, serverVersion, tools }: ServerMeta): string {
  const version = serverVersion === undefined ? '' : `\n    "serverVersion": ${pythonString(serverVersion)},`;
  const entries = tools.map(
    ({ toolName, exportName }) =>
      `\n        {"toolName": ${pythonString(toolName)}, "exportName": ${pythonString(exportName)}},`,
  );
  return `{
    "serverId": ${pythonString(serverId)},
    "serverName": ${pythonString(serverName)},${version}
    "tools": [${entries.join('')}
    ],
}`;
}
