import type { CatalogSnapshot } from '../../catalog/snapshot.js';
import type { ProcessLanguage, ProgramLanguage } from '../../domain/process-program.js';
import type { Failure, Outcome } from '../../domain/run.js';
import { nearest } from '../../lib/text/nearest.js';
import { importedNames } from './process-packages.js';

interface Written {
  readonly source: string;
  readonly snapshot: CatalogSnapshot;
}

/**
 * Adds advice to an interpreter's error, which says what is wrong but not what to write. The interpreter does not know which
 * servers exist or that nothing else is reachable. Go has its own advice.
 */
export function withAdvice(outcome: Outcome, language: ProgramLanguage, written: Written): Outcome {
  if (outcome.status === 'completed' || language === 'go') return outcome;
  const { failure } = outcome;
  // A promise in the result has a better hint than the general one about JSON.
  const isOpen = failure.hint === undefined || failure.kind === 'not_serializable';
  const hint = isOpen ? adviceFor(failure, language, written) : undefined;
  return hint === undefined ? outcome : { ...outcome, failure: { ...failure, hint } };
}

const FIND_A_TOOL: Readonly<Record<ProcessLanguage, string>> = {
  node: 'await catalog.searchTools({ query: "words" }) finds a tool that does it.',
  python: 'await catalog.search_tools(query="words") finds a tool that does it.',
};
const AWAIT_IN_PYTHON = 'Write `await` in front of the call, or `await asyncio.gather(*list)` for a list of calls.';
const DATA_OF: Readonly<Record<ProcessLanguage, string>> = {
  node: 'A call gives the MCP result. Its data: import { dataOf } from "./client/mcp_client.js"; dataOf(answer).',
  python: 'A call gives the MCP result. Its data: from client.mcp_client import data_of; data_of(answer).',
};
const NO_PACKAGES = 'Only the standard library and the modules of servers can be imported.';
const NO_ENVIRONMENT =
  'There is no environment here. Write values into the program; servers have their own credentials.';

const NETWORK_NAMES = /^(?:URLError|gaierror|ConnectionError|ConnectionRefusedError|ConnectTimeout)$/;
const NETWORK_WORDS = /^fetch failed$|\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b|Network is unreachable|name resolution/;

function adviceFor(failure: Failure, language: ProcessLanguage, written: Written): string | undefined {
  const { kind, name, message, stack = '' } = failure;
  switch (kind) {
    case 'syntax':
      return message === "'return' outside function"
        ? 'Assign the value to `result` instead of returning it.'
        : undefined;
    case 'import':
      return importAdvice(message, language, written);
    case 'not_serializable':
      return /\bcoroutine\b/.test(message) ? AWAIT_IN_PYTHON : undefined;
    case 'exception':
      if (NETWORK_NAMES.test(name) || NETWORK_WORDS.test(message))
        return `There is no network here. ${FIND_A_TOOL[language]}`;
      if (isFileOfTheMachine(message))
        return `There are no files here but those in /workspace. ${FIND_A_TOOL[language]}`;
      if (name === 'KeyError' && /\bos\.environ\b/.test(stack)) return NO_ENVIRONMENT;
      if (language === 'node' && name === 'TypeError' && /\bprocess\.env\b/.test(lineOf(failure, written)))
        return NO_ENVIRONMENT;
      if (NOT_DEFINED.test(message)) return forgottenImport(message, language, written);
      if (language === 'python' && /'coroutine'/.test(message)) return AWAIT_IN_PYTHON;
      if (takesResultForData(failure, language, written) || takesTextForData(failure, language, written))
        return DATA_OF[language];
      return language === 'node' ? memberAdvice(message, written) : undefined;
    default:
      return undefined;
  }
}

const MISSING_FILE = /^(?:ENOENT: .*, \w+ |\[Errno 2\] No such file or directory: )'([^']{1,500})'/;

function isFileOfTheMachine(message: string): boolean {
  const path = MISSING_FILE.exec(message)?.[1];
  return path?.startsWith('/') === true && !path.startsWith('/workspace');
}

function lineOf({ position }: Failure, { source }: Written): string {
  return position === undefined ? '' : (source.split('\n')[position.line - 1] ?? '');
}

/** The interpreters' messages for a name that nothing declares. */
const NOT_DEFINED = /^(?:name ')?([A-Za-z_$][\w$]{0,127})'? is not defined/;
const CLIENT_NAMES: Readonly<Record<ProcessLanguage, RegExp>> = {
  node: /^(?:callTool|normalize|dataOf|ToolError)$/,
  python: /^(?:call_tool|call_tool_sync|normalize|data_of|ToolError)$/,
};
const SEARCHES: Readonly<Record<ProcessLanguage, RegExp>> = {
  node: /^(?:searchTools|listTools)$/,
  python: /^(?:search_tools|list_tools)$/,
};

/** A server's module, a tool's function or a helper that is used without its import. */
function forgottenImport(message: string, language: ProcessLanguage, { snapshot }: Written): string | undefined {
  const name = NOT_DEFINED.exec(message)?.[1] ?? '';
  const { modules, functionsOf } = importedNames(snapshot, language);
  const write = (names: string, node: string, python: string) =>
    language === 'node' ? `import ${names} from "./${node}";` : `from ${python} import ${names}`;
  if (CLIENT_NAMES[language].test(name))
    return `Write: ${write(language === 'node' ? `{ ${name} }` : name, 'client/mcp_client.js', 'client.mcp_client')}`;
  if (SEARCHES[language].test(name)) return FIND_A_TOOL[language];
  if (modules.includes(name))
    return `Write: ${write(language === 'node' ? `* as ${name}` : name, `servers/${name}/index.js`, 'servers')}`;
  const from = modules.filter((module) => functionsOf(module).includes(name)).slice(0, 3);
  const lines = from.map((module) =>
    write(language === 'node' ? `{ ${name} }` : name, `servers/${module}/index.js`, `servers.${module}`),
  );
  return lines.length === 0 ? undefined : `Write: ${lines.join(' or ')}`;
}

/** A missing field in a program that calls tools and never unwraps their results. */
function takesResultForData({ name, message }: Failure, language: ProcessLanguage, { source }: Written): boolean {
  if (!/\bservers\b/.test(source) || /\b(?:data_?of|structuredContent|normalize|content)\b/i.test(source)) return false;
  if (language === 'node') return /^Cannot read properties of undefined/.test(message);
  return name === 'KeyError' || /^'dict' object has no attribute/.test(message);
}

const LIST_METHOD = /\.(?:map|filter|forEach|find|reduce|some|every|flatMap|sort) is not a function$/;

/** A text taken for the list or the object that it holds. */
function takesTextForData({ name, message }: Failure, language: ProcessLanguage, { source }: Written): boolean {
  if (name !== 'TypeError' || !/\bservers\b/.test(source) || !/\btext\b/.test(source)) return false;
  if (/\bdata_?of\b|\bJSON\s*\.\s*parse\b|\bjson\.loads\b/i.test(source)) return false;
  return language === 'node' ? LIST_METHOD.test(message) : /^string indices must be integers/.test(message);
}

/** The interpreters' messages for a missing server module, then for a missing function in it. */
const MISSING_SERVER = /^(?:No module named 'servers\.|Cannot find module '\/workspace\/servers\/)(\w{1,200})/;
const MISSING_FUNCTION: Readonly<Record<ProcessLanguage, RegExp>> = {
  node: /^The requested module '\.\/servers\/(?<module>\w{1,200})\/index\.js' does not provide an export named '(?<name>[\w$]{1,200})'/,
  python: /^cannot import name '(?<name>\w{1,200})' from 'servers\.(?<module>\w{1,200})'/,
};
const MISSING_PACKAGE = /^(?:No module named '|Cannot find package ')([^']{1,200})/;
const IMPORT_A_SERVER: Readonly<Record<ProcessLanguage, string>> = {
  node: 'Write: import * as server from "./servers/<server>/index.js".',
  python: 'Write: from servers.<server> import <function>.',
};

function importAdvice(message: string, language: ProcessLanguage, { snapshot }: Written): string | undefined {
  const names = importedNames(snapshot, language);
  const server = MISSING_SERVER.exec(message)?.[1];
  if (server !== undefined) return meant(server, names.modules, 'Modules of servers');
  const { module, name } = MISSING_FUNCTION[language].exec(message)?.groups ?? {};
  if (module !== undefined && name !== undefined)
    return meant(name, names.functionsOf(module), `Functions of ${module}`);
  const wanted = MISSING_PACKAGE.exec(message)?.[1];
  if (wanted === undefined) return undefined;
  // A server's module as other contracts import it: `lab`, `servers/lab`, `@codemode/servers`.
  const of = names.modules.find((each) => each === wanted) ?? (/servers/.test(wanted) ? '<server>' : undefined);
  if (of !== undefined) return IMPORT_A_SERVER[language].replace('<server>', of);
  return `${NO_PACKAGES} ${FIND_A_TOOL[language]}`;
}

/** `files.raed is not a function`, for a module that was imported as a namespace. */
function memberAdvice(message: string, { source, snapshot }: Written): string | undefined {
  const [, object, member] = /^(\w{1,100})\.([\w$]{1,200}) is not a function$/.exec(message) ?? [];
  if (object === undefined || member === undefined) return undefined;
  const [, module] =
    new RegExp(`\\bimport\\s*\\*\\s*as\\s+${object}\\s+from\\s*['"]\\./servers/(\\w{1,200})/`).exec(source) ?? [];
  if (module === undefined) return undefined;
  return meant(member, importedNames(snapshot, 'node').functionsOf(module), `Functions of ${module}`);
}

const MAX_NAMED = 20;

function meant(name: string, known: readonly string[], what: string): string | undefined {
  const close = nearest(name, known, 2);
  if (close.length > 0) return `Did you mean ${close.join(' or ')}?`;
  if (known.length === 0) return undefined;
  return `${what}: ${known.slice(0, MAX_NAMED).join(', ')}${known.length > MAX_NAMED ? ', ...' : ''}.`;
}
