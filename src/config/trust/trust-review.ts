import type { JsonObject, JsonValue } from '../../domain/json.js';
import { isProfileName, needsOf } from '../../domain/profile-name.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { type KeyPath, leavesOf, renderPath } from '../files/path.js';
import { isObject } from '../schema/server-map.js';
import { loadsCode } from '../variables/code-variables.js';
import { referencesIn } from '../variables/substitute.js';

/** What a configuration would do that an untrusted file must not do without consent. All of it is untrusted text. */
export interface Powers {
  readonly commands: readonly StartedCommand[];
  readonly addresses: readonly ContactedAddress[];
  /** Every other setting that is not harmless, with its value. */
  readonly settings: readonly { readonly key: string; readonly value: string }[];
  /** Environment variables whose values it uses. */
  readonly variables: readonly string[];
}

export interface StartedCommand {
  /** The name of a server, or the place of a hook: `hooks[0]`. */
  readonly server: string;
  /** As written, including references to variables. */
  readonly words: readonly string[];
  readonly cwd?: string;
  /** Names of all variables that it gets. */
  readonly environment: readonly string[];
  /** The variables that the file itself sets. */
  readonly values: readonly GivenVariable[];
}

/**
 * As written in the file, including references to variables. It is shown whole: the text is untrusted, and a variable such as
 * `NODE_OPTIONS` can start any program.
 */
export interface GivenVariable {
  readonly name: string;
  readonly value: string;
  readonly loadsCode: boolean;
}

export interface ContactedAddress {
  /** As in `StartedCommand`. */
  readonly server: string;
  readonly url: string;
  /** Names of headers and kinds of credentials that are sent to it. */
  readonly sends: readonly string[];
  /** Headers and settings of the credentials, as written in the file. */
  readonly values: readonly { readonly name: string; readonly value: string }[];
}

/** The settings that any file may make. Everything else needs trust, including future settings: this is an allowlist. */
const HARMLESS: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  $schema: () => true,
  // Other profiles run native code in the jail. These have an engine between a program and the machine.
  profile: (value) => typeof value === 'string' && isProfileName(value) && needsOf(value).runtime === 'quickjs',
  toolName: () => true,
  'catalog.ttl': () => true,
  'prompt.tokenBudget': () => true,
  'logging.level': () => true,
  'logging.format': () => true,
  // As `codemode init` writes it if there is nothing to import.
  mcpServers: (value) => value === null || (isObject(value) && Object.keys(value).length === 0),
};

/**
 * Whether a file may be used without trust. Judges the file as written: the meaning of another program's format does not matter. A
 * reference to a variable is never harmless: even a tool's name could leak a secret.
 */
export function isHarmless(value: JsonValue): boolean {
  if (!isObject(value) || referencesIn(value).length > 0) return false;
  for (const leaf of leavesOf(value)) {
    const key = renderPath(leaf.path);
    if (key === '') continue; // an empty file
    if (!Object.hasOwn(HARMLESS, key) || HARMLESS[key]?.(leaf.value) !== true) return false;
  }
  return true;
}

/** Keys of a server that are shown as its command or address, or that affect only its own timing and text. */
const SHOWN_ELSEWHERE = new Set([
  ...['command', 'args', 'env', 'environment', 'inheritEnv', 'cwd', 'url', 'openapi', 'baseUrl', 'headers', 'auth'],
  ...['type', 'transport', 'timeout', 'connectTimeout', 'description', 'enabled', 'disabled'],
]);

/** The commands, addresses and settings of a configuration in our own form. Accepts any shape, because nothing was checked yet. */
export function powersOf(value: JsonValue): Powers {
  const root = isObject(value) ? value : {};
  const servers = isObject(root.mcpServers) ? Object.entries(root.mcpServers) : [];
  const listed = Array.isArray(root.hooks) ? root.hooks : [];
  const hooks = listed.map((hook, at) => [renderPath(['hooks', at]), hook] as const);
  const settings = Object.entries({ ...root, ...(listed.length === 0 ? {} : { hooks: listed.map(withoutShown) }) })
    .filter(([key]) => key !== 'mcpServers')
    .flatMap(([key, child]) => settingsBelow(child, [key]))
    .filter(({ key, value: found }) => !(Object.hasOwn(HARMLESS, key) && HARMLESS[key]?.(found) === true));
  const ofServers = servers.flatMap(([name, server]) =>
    isObject(server)
      ? Object.entries(server)
          .filter(([key]) => !SHOWN_ELSEWHERE.has(key))
          .flatMap(([key, child]) => settingsBelow(child, ['mcpServers', name, key]))
      : [],
  );
  return {
    commands: [...servers, ...hooks].flatMap(([name, started]) => commandOf(name, started)),
    addresses: [...servers, ...hooks].flatMap(([name, contacted]) => addressesOf(name, contacted)),
    settings: [...settings, ...ofServers].map(({ key, value: found }) => ({ key, value: JSON.stringify(found) })),
    variables: [...new Set(referencesIn(value))].sort(),
  };
}

/** A hook without the parts that are shown as its command or address. */
function withoutShown(hook: JsonValue): JsonValue {
  return isObject(hook) ? Object.fromEntries(Object.entries(hook).filter(([key]) => !SHOWN_ELSEWHERE.has(key))) : hook;
}

function settingsBelow(value: JsonValue, path: KeyPath) {
  return [...leavesOf(value, path)].map((leaf) => ({
    key: renderPath(leaf.path),
    value: leaf.value,
  }));
}

function commandOf(server: string, entry: JsonValue): StartedCommand[] {
  if (!isObject(entry) || entry.command === undefined) return [];
  const args = Array.isArray(entry.args) ? entry.args : entry.args === undefined ? [] : [entry.args];
  const inherited = Array.isArray(entry.inheritEnv) ? entry.inheritEnv.map(text) : [];
  return [
    {
      server,
      words: [entry.command, ...args].map(text),
      ...omitUndefined({ cwd: ifDefined(entry.cwd, text) }),
      environment: [...keysOf(entry.env), ...keysOf(entry.environment), ...inherited],
      values: [entry.env, entry.environment]
        .flatMap(valuesOf)
        .map((given) => ({ ...given, loadsCode: loadsCode(given.name) })),
    },
  ];
}

function addressesOf(server: string, entry: JsonValue): ContactedAddress[] {
  if (!isObject(entry)) return [];
  const auth = isObject(entry.auth) && entry.auth.type !== 'none' ? [`auth ${text(entry.auth.type ?? 'unknown')}`] : [];
  const sends = [...keysOf(entry.headers), ...auth];
  const values = [
    ...valuesOf(entry.headers),
    ...(auth.length === 0 ? [] : [...leavesOf(entry.auth ?? null, ['auth'])])
      .filter(({ path }) => path.at(-1) !== 'type')
      .map(({ path, value }) => ({ name: renderPath(path), value: text(value) })),
  ];
  return (['url', 'openapi', 'baseUrl'] as const).flatMap((key) => {
    const found = entry[key];
    return found === undefined ? [] : [{ server, url: text(found), sends, values }];
  });
}

function valuesOf(value: JsonValue | undefined): { name: string; value: string }[] {
  return isObject(value)
    ? Object.entries(value).map(([name, found]) => ({ name, value: text(found as JsonValue) }))
    : [];
}

function keysOf(value: JsonValue | undefined): string[] {
  return isObject(value) ? Object.keys(value as JsonObject) : [];
}

function text(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
