import { namespacesOf } from '../catalog/namespaces.js';
import { type CatalogServer, type CatalogSnapshot, notForCode } from '../catalog/snapshot.js';
import type { Failure, Outcome, SourcePosition } from '../domain/execution.js';
import { nearest } from '../lib/nearest.js';

/*
 * The engine says `not a function` and where. A module's namespace cannot name what it does not export, so what was called
 * is looked up in the text of the program: `fx.get_usr_info` of a server that has `get_user_info`.
 */

/** The outcome with the name of what was called, and the nearest tool where it should have been one. */
export function withCalleeNamed(outcome: Outcome, source: string, snapshot: CatalogSnapshot, profile: string): Outcome {
  if (outcome.status !== 'failed') return outcome;
  const { failure } = outcome;
  if (failure.kind === 'import') return { ...outcome, failure: withDirectTool(failure, snapshot) };
  if (failure.kind !== 'exception' || failure.message !== NOT_A_FUNCTION || failure.position === undefined)
    return outcome;
  const callee = calleeAt(source, failure.position);
  return callee === undefined
    ? outcome
    : { ...outcome, failure: named(failure, callee, { source, snapshot, profile }) };
}

const NOT_A_FUNCTION = 'not a function';
/** By contract, as for `fetch` without `globalThis`. */
const FETCH_HINTS: Readonly<Record<string, string>> = {
  codemode:
    "There is no network here. Find a tool: import { searchTools } from '@codemode/discovery'; await searchTools('fetch a page');",
  unified: 'Write fetch(...) without globalThis.',
};
const MISSING_EXPORT = /^Could not find export '([^']+)' in module '@codemode\/servers\/([^']+)'/i;

/** An import of a tool that is there, and not for code. */
function withDirectTool(failure: Failure, snapshot: CatalogSnapshot): Failure {
  const [, name = '', path = ''] = MISSING_EXPORT.exec(failure.message) ?? [];
  const server = snapshot.serverByPath.get(path);
  const direct = server && notForCode(name, server);
  return direct === undefined ? failure : { ...failure, ...direct };
}

interface Written {
  readonly source: string;
  readonly snapshot: CatalogSnapshot;
  readonly profile: string;
}

function named(failure: Failure, callee: string, { source, snapshot, profile }: Written): Failure {
  const message = `${callee} is ${NOT_A_FUNCTION}`;
  const [, object = '', member] = MEMBER.exec(callee) ?? [];
  if (object === 'globalThis' && member === 'fetch')
    return { ...failure, message, hint: FETCH_HINTS[profile] ?? 'There is no network here.' };
  const server = serverOf(object, source, snapshot);
  if (server === undefined) return { ...failure, message };
  const direct = member === undefined ? undefined : notForCode(member, server);
  if (direct !== undefined) return { ...failure, message: `${message}: ${direct.message}`, hint: direct.hint };
  const names = server.tools.map(({ exportName }) => exportName);
  const [close] = member === undefined ? [] : nearest(member, names, 1);
  return {
    ...failure,
    message: `${message}: ${server.path} has no such tool`,
    hint:
      close === undefined
        ? `List its tools: await listTools(${JSON.stringify(server.path)}) of @codemode/discovery.`
        : `Use ${object}.${close} instead.`,
  };
}

/** `object.member`, or `object[...]`, where the member is known only to the program. */
const MEMBER = /^(.*?)(?:\??\.([\w$]+)|\[[^\]]*\])$/;
const CALL = /[\w$]+(?:\??\.[\w$]+|\[[^\]]{0,60}\])*(?=\s*\()/g;
const MAX_LINE_CHARACTERS = 2_000;

/** What is called at this place. The place is that of its last name, or of what follows it. */
function calleeAt(source: string, { line, column }: SourcePosition): string | undefined {
  const text = source.split('\n')[line - 1] ?? '';
  if (text.length > MAX_LINE_CHARACTERS) return undefined;
  const at = column - 1;
  return [...text.matchAll(CALL)].findLast(({ 0: { length }, index }) => index <= at && at <= index + length + 1)?.[0];
}

/** The server whose module a name stands for, or whose namespace it is. */
function serverOf(object: string, source: string, snapshot: CatalogSnapshot): CatalogServer | undefined {
  const namespace = /^mcp\??\.([\w$]+)$/.exec(object)?.[1];
  if (namespace !== undefined) return namespacesOf(snapshot).find(({ name }) => name === namespace)?.server;
  if (!/^[\w$]+$/.test(object)) return undefined;
  const name = object.replaceAll('$', '\\$');
  const imported = new RegExp(
    `(?:\\*\\s*as\\s+${name}\\s+from|(?<![\\w$])${name}\\s*=\\s*await\\s+import\\s*\\()\\s*["'\`]([^"'\`]+)`,
  );
  const path = imported.exec(source)?.[1]?.replace('@codemode/servers/', '');
  return path === undefined ? undefined : snapshot.serverByPath.get(path);
}
