import { isServerGranted, isToolGranted } from '../../broker/capabilities/run-grants.js';
import { namespacesOf } from '../../catalog/namespaces.js';
import { type CatalogServer, type CatalogSnapshot, notForCode } from '../../catalog/snapshot.js';
import type { CapabilitySet } from '../../domain/capability.js';
import { needsOf } from '../../domain/profile-name.js';
import type { Failure, Outcome, SourcePosition } from '../../domain/run.js';
import { nearest } from '../../lib/text/nearest.js';

/*
 * The engine reports `not a function` and a position. A module namespace cannot name a missing export, so the callee is looked up
 * in the program's text: `fx.get_usr_info` of a server that has `get_user_info`.
 */

/** The program's contract, and the capabilities of its token if they are restricted. */
export interface CalleeContext {
  readonly profile: string;
  readonly grants?: CapabilitySet | undefined;
}

/** Adds the name of the callee to the outcome, and the nearest tool if the callee should have been a tool. */
export function withCalleeNamed(
  outcome: Outcome,
  source: string,
  snapshot: CatalogSnapshot,
  { profile, grants }: CalleeContext,
): Outcome {
  if (outcome.status !== 'failed') return outcome;
  const { failure } = outcome;
  if (failure.kind === 'import') return { ...outcome, failure: withDirectTool(failure, snapshot) };
  if (failure.kind !== 'exception' || failure.position === undefined) return outcome;
  const lost = writesNamespaces(profile)
    ? unknownNamespace(failure, lineOf(source, failure.position), snapshot, grants)
    : undefined;
  if (lost !== undefined) return { ...outcome, failure: lost };
  if (failure.message !== NOT_A_FUNCTION) return outcome;
  const callee = calleeAt(source, failure.position);
  return callee === undefined
    ? outcome
    : { ...outcome, failure: named(failure, callee, { source, snapshot, profile, grants }) };
}

const NOT_A_FUNCTION = 'not a function';
/** Hints for `globalThis.fetch`, by contract. */
const FETCH_HINTS: Readonly<Record<string, string>> = {
  codemode:
    "There is no network here. Find a tool: import { searchTools } from '@codemode/discovery'; await searchTools('fetch a page');",
  unified: 'Write fetch(...) without globalThis.',
};
const FS_HINT = 'fs has readFile, writeFile and listFolder, and each of them has to be awaited.';
const MISSING_EXPORT = /^Could not find export '([^']+)' in module '@codemode\/servers\/([^']+)'/i;

/** An import of a tool that exists but is not available to code. */
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
  readonly grants: CapabilitySet | undefined;
}

function named(failure: Failure, callee: string, { source, snapshot, profile, grants }: Written): Failure {
  const message = `${callee} is ${NOT_A_FUNCTION}`;
  const [, object = '', property, quoted] = MEMBER.exec(callee) ?? [];
  const member = property ?? quoted;
  if (object === 'globalThis' && member === 'fetch')
    return { ...failure, message, hint: FETCH_HINTS[profile] ?? 'There is no network here.' };
  if (/(?:^|\.)then$/.test(callee) && needsOf(profile).program === 'script')
    return { ...failure, message, hint: 'Calls block here: use what call_tool returned, without `then`.' };
  const taken = takenFrom(callee, source, snapshot);
  const written = { source, snapshot, profile, grants };
  if (taken !== undefined) return noSuchTool(failure, message, { ...taken, prefix: '' }, written);
  const server = serverOf(object, source, snapshot);
  if (server === undefined)
    return object === 'fs' && writesNamespaces(profile)
      ? { ...failure, message, hint: FS_HINT }
      : { ...failure, message };
  return noSuchTool(failure, message, { server, member, prefix: `${object}.` }, written);
}

interface MissingTool {
  readonly server: CatalogServer;
  /** Unknown if it is computed. */
  readonly member: string | undefined;
  /** What a program writes before the name of a tool. */
  readonly prefix: string;
}

function noSuchTool(
  failure: Failure,
  message: string,
  { server, member, prefix }: MissingTool,
  { snapshot, profile, grants }: Written,
): Failure {
  if (member !== undefined && grants !== undefined && !isToolGranted({ serverId: server.id, name: member }, grants.mcp))
    return notGranted(failure, `mcp:${nameIn(server, snapshot, profile)}/${member}`);
  const direct = member === undefined ? undefined : notForCode(member, server);
  if (direct !== undefined) return { ...failure, message: `${message}: ${direct.message}`, hint: direct.hint };
  const [close] = member === undefined ? [] : nearest(member, namesIn(server, snapshot, profile), 1);
  return {
    ...failure,
    errorClass: 'ToolNotFoundError',
    message: `${message}: ${nameIn(server, snapshot, profile)} has no such tool`,
    hint:
      close === undefined
        ? `List its tools: await listTools(${JSON.stringify(server.path)}) of @codemode/discovery.`
        : `Use ${prefix}${close} instead.`,
  };
}

/** The answer is the same whether or not the server or tool exists: a caller must not learn about what it is not granted. */
function notGranted(failure: Failure, capability: string): Failure {
  return {
    ...failure,
    errorClass: 'CapabilityError',
    message: `the run was not granted ${capability}`,
    hint: 'Call only what is listed: the token decides what that is.',
  };
}

/** Whether programs of this contract see a namespace for each server instead of modules. */
function writesNamespaces(profile: string): boolean {
  return needsOf(profile).program === 'body';
}

function nameIn(server: CatalogServer, snapshot: CatalogSnapshot, profile: string): string {
  if (!writesNamespaces(profile)) return server.path;
  return namespacesOf(snapshot).find((each) => each.server === server)?.name ?? server.path;
}

/** The members that a program of this contract may write after the server's name. */
function namesIn(server: CatalogServer, snapshot: CatalogSnapshot, profile: string): string[] {
  if (!writesNamespaces(profile)) return server.tools.map(({ exportName }) => exportName);
  return (
    namespacesOf(snapshot)
      .find((each) => each.server === server)
      ?.methods.map(({ name }) => name) ?? []
  );
}

/** `mcp.nope.tool()`, or a server by its own name if code has to write another one: `mcp['help-scout']`. */
function unknownNamespace(
  failure: Failure,
  line: string,
  snapshot: CatalogSnapshot,
  grants: CapabilitySet | undefined,
): Failure | undefined {
  if (!OF_UNDEFINED.test(failure.message)) return undefined;
  const namespaces = namespacesOf(snapshot);
  const written = [...line.matchAll(NAMESPACE)].map(([, member, quoted]) => member ?? quoted ?? '');
  const unknown = written.find((name) => !namespaces.some((each) => each.name === name));
  if (unknown === undefined) return undefined;
  if (grants !== undefined && !isServerGranted(unknown, grants.mcp)) return notGranted(failure, `mcp:${unknown}`);
  const known = namespaces.map(({ name }) => name);
  const meant = namespaces.find(({ server }) => server.id === unknown)?.name ?? nearest(unknown, known, 1)[0];
  return {
    ...failure,
    errorClass: 'ServerNotFoundError',
    message: `mcp has no ${JSON.stringify(unknown)}`,
    hint:
      meant === undefined
        ? `Call a server that is there: ${known.slice(0, MAX_LISTED).join(', ') || 'none is connected'}.`
        : `Use mcp.${meant} instead.`,
  };
}

const OF_UNDEFINED = /^cannot read property '[^']*' of undefined$/;
const NAMESPACE = /(?<![\w$.])mcp\s*(?:\??\.\s*([\w$]+)|\[\s*["'`]([^"'`\]]{1,128})["'`]\s*\])/g;
const MAX_LISTED = 20;

/** `object.member`, or `object[...]` if the member is computed. */
const MEMBER = /^(.*?)(?:\??\.([\w$]+)|\[\s*["'`]([^"'`\]]+)["'`]\s*\]|\[[^\]]*\])$/;
const CALL = /[\w$]+(?:\??\.[\w$]+|\[[^\]]{0,60}\])*(?=\s*\()/g;
/** `function (` is the argument of the call, not its callee. */
const KEYWORD = /^(?:async|await|function|if|new|return|typeof|void|yield)$/;
const MAX_LINE_CHARACTERS = 2_000;

/** The callee at this position. The position is that of the callee's last name, or of what follows it. */
function calleeAt(source: string, { line, column }: SourcePosition): string | undefined {
  const text = lineOf(source, { line, column });
  const at = column - 1;
  return [...text.matchAll(CALL)].findLast(
    ({ 0: callee, index }) => index <= at && at <= index + callee.length + 1 && !KEYWORD.test(callee),
  )?.[0];
}

/** Empty if the line is too long to search. */
function lineOf(source: string, { line }: SourcePosition): string {
  const text = source.split('\n')[line - 1] ?? '';
  return text.length > MAX_LINE_CHARACTERS ? '' : text;
}

/** The tool that `const { tool: callee } = await import(...)` should have given. */
function takenFrom(
  callee: string,
  source: string,
  snapshot: CatalogSnapshot,
): { server: CatalogServer; member: string } | undefined {
  if (!/^[\w$]+$/.test(callee)) return undefined;
  for (const [, names = '', path = ''] of source.matchAll(DESTRUCTURED)) {
    const server = snapshot.serverByPath.get(path);
    const pair = names.split(',').map((each) => each.split(/[:=]/, 2).map((name) => name.trim()));
    const [member] = pair.find(([name, local = name]) => local === callee) ?? [];
    if (member === undefined || server === undefined) continue;
    if (server.tools.every(({ exportName }) => exportName !== member)) return { server, member };
  }
  return undefined;
}

const DESTRUCTURED = /\{([^{}]{1,500})\}\s*=\s*await\s+import\s*\(\s*["'`]@codemode\/servers\/([^"'`]{1,128})/g;

/** The server whose module or namespace a name refers to. */
function serverOf(object: string, source: string, snapshot: CatalogSnapshot): CatalogServer | undefined {
  const [, property, quoted] = /^mcp(?:\??\.([\w$]+)|\[\s*["'`]([^"'`\]]+)["'`]\s*\])$/.exec(object) ?? [];
  const namespace = property ?? quoted;
  if (namespace !== undefined) return namespacesOf(snapshot).find(({ name }) => name === namespace)?.server;
  if (!/^[\w$]+$/.test(object)) return undefined;
  const name = object.replaceAll('$', '\\$');
  const imported = new RegExp(
    `(?:\\*\\s*as\\s+${name}\\s+from|(?<![\\w$])${name}\\s*=\\s*await\\s+import\\s*\\()\\s*["'\`]([^"'\`]+)`,
  );
  const path = imported.exec(source)?.[1]?.replace('@codemode/servers/', '');
  return path === undefined ? undefined : snapshot.serverByPath.get(path);
}
