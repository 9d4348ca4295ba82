import type { ExampleCall } from '../../domain/briefing.js';
import type { JsonValue } from '../../domain/json.js';
import { isJsonObject } from '../../domain/json.js';
import { conforms } from '../declarations/schema/conforms.js';
import { readSchema } from '../declarations/schema/schema.js';
import { exampleInput } from '../examples.js';
import { compareCodePoints, exportNames } from '../names.js';
import type { CatalogServer, CatalogTool } from '../snapshot.js';

/**
 * A call to show as an example: of a read-only tool (judged by its annotations and its name), with an argument that its schema
 * accepts. Agents run the examples they see, so a tool that may change something is never chosen. Nor is a tool whose names or
 * values could carry more than a name or a value. Undefined if no tool qualifies.
 */
export function exampleCall(servers: readonly CatalogServer[]): ExampleCall | undefined {
  const candidates: { readonly tool: CatalogTool; readonly rank: number }[] = [];
  for (const server of [...servers].sort((left, right) => compareCodePoints(left.path, right.path))) {
    if (!server.isAvailable || server.path.length > MAX_NAME_CHARACTERS) continue;
    for (const tool of server.tools) {
      if (candidates.length === MAX_CANDIDATES) break;
      const rank = rankOf(tool);
      if (rank !== undefined) candidates.push({ tool, rank });
    }
  }
  candidates.sort((left, right) => left.rank - right.rank || compareCodePoints(left.tool.target, right.tool.target));
  for (const { tool } of candidates.slice(0, MAX_ATTEMPTS)) {
    const argument = argumentOf(tool);
    if (argument === undefined) continue;
    const { path } = tool.server;
    return { path, moduleName: moduleName(path), exportName: tool.exportName, argument };
  }
  return undefined;
}

/** The argument for an example of one tool, above its declaration. Undefined if the tool does not qualify: see above. */
export function exampleArgument(tool: CatalogTool): string | undefined {
  const { readOnlyHint, destructiveHint } = tool.tool.annotations ?? {};
  const changes = readOnlyHint === false || destructiveHint === true || tool.tool.deprecated === true;
  const isReading = readOnlyHint === true && !CHANGING_WORD.test(wordsOf(tool.exportName));
  return changes || !(isReading || rankOf(tool) !== undefined) ? undefined : argumentOf(tool);
}

const MAX_CANDIDATES = 1_000;
const MAX_ATTEMPTS = 20;
const MAX_NAME_CHARACTERS = 40;
const MAX_ARGUMENT_CHARACTERS = 120;
const PLAIN_NAME = /^[A-Za-z][A-Za-z0-9_]{0,39}$/;
const PLAIN_VALUE = /^[A-Za-z0-9 .:/@_-]{0,40}$/;
const READING_VERB = /^(?:list|search|find|query|get|read|fetch|describe|show|lookup)(?:[^a-z]|$)/;
const CHANGING_WORD = /(?:^|_)(?:create|delete|remove|update|set|add|send|write|move|drop|run|execute)(?:_|$)/;

/** Lower is better; undefined if the tool must not be shown. A tool with one argument teaches more than one with none or five. */
function rankOf({ tool, exportName }: CatalogTool): number | undefined {
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  if (readOnlyHint === false || destructiveHint === true || tool.deprecated === true) return undefined;
  if (!PLAIN_NAME.test(exportName)) return undefined;
  const words = wordsOf(exportName);
  const isReading = READING_VERB.test(words) && !CHANGING_WORD.test(words);
  if (!isReading) return undefined;
  const required = tool.inputSchema?.required;
  const count = Array.isArray(required) ? required.length : 0;
  return Math.abs(count - 1) * 2 + (readOnlyHint === true ? 0 : 1);
}

function wordsOf(exportName: string): string {
  return exportName.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
}

function argumentOf({ tool }: CatalogTool): string | undefined {
  const schema = tool.inputSchema;
  if (schema === undefined) return '';
  const example = exampleInput(schema);
  if (!conforms(readSchema(schema).root, example)) return undefined;
  if (isJsonObject(example) && Object.keys(example).length === 0) return '';
  const text = literal(example);
  return text === undefined || text.length > MAX_ARGUMENT_CHARACTERS ? undefined : text;
}

function literal(value: JsonValue): string | undefined {
  if (typeof value === 'string') return PLAIN_VALUE.test(value) ? JSON.stringify(value) : undefined;
  if (Array.isArray(value)) {
    const items = value.map(literal);
    return items.includes(undefined) ? undefined : `[${items.join(', ')}]`;
  }
  if (!isJsonObject(value)) return String(value);
  const members = Object.entries(value).map(([name, member]) => {
    const text = literal(member);
    return text === undefined || !PLAIN_NAME.test(name) ? undefined : `${name}: ${text}`;
  });
  return members.includes(undefined) ? undefined : `{ ${members.join(', ')} }`;
}

/** `google-drive` becomes `googleDrive`. A module must not shadow the console of the program that imports it. */
function moduleName(path: string): string {
  const camel = path.replace(/-+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return camel === 'console' ? 'consoleServer' : (exportNames([camel]).get(camel) as string);
}
