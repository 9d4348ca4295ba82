import type { JsonObject, JsonValue } from '../../domain/json.js';
import { parseTomlDocument, parseYaml } from '../files/document.js';
import { readConfigFile } from '../files/read-file.js';
import { detectFormat, importForeign } from '../import/import.js';
import { canonical } from '../import/plan-import.js';
import { isObject, shapeServers } from '../schema/server-map.js';
import type { Environment } from '../variables/environment.js';
import { escapeUnknownReferences, substitute } from '../variables/substitute.js';
import { inOurForm, type StartCommand } from './registry.js';
import { OWN_NAME, startsUs, type Target } from './target.js';

/** A server that both the client and codemode have. */
export interface SharedServer {
  /** The client's name for it. */
  readonly name: string;
  /** Codemode's name for it. */
  readonly configuredAs: string;
}

/** The servers of a configuration file as written there. Throws `bad_config`. */
export async function configuredServers(file: string): Promise<Readonly<Record<string, JsonValue>>> {
  const text = await readConfigFile(file);
  const { value } = file.endsWith('.toml') ? parseTomlDocument(text, file) : parseYaml(text, file);
  if (!isObject(value)) return {};
  const format = detectFormat(file, value);
  const shaped = format === undefined ? shapeServers(value) : importForeign(value, format);
  return isObject(shaped.value) && isObject(shaped.value.mcpServers) ? shaped.value.mcpServers : {};
}

/** The client's servers that are also in this configuration and enabled in both. Compared by content, not by name. */
export function sharedServers(
  { client, entries }: Target,
  configured: Readonly<Record<string, JsonValue>>,
  environment: Environment,
): SharedServer[] {
  const ours = new Map<string, string>();
  for (const [name, server] of Object.entries(configured))
    if (isObject(server) && !isOff(server))
      for (const form of formsOf(server, environment)) if (!ours.has(form)) ours.set(form, name);
  return [...entries].flatMap(([name, entry]): SharedServer[] => {
    if (name === OWN_NAME || !isObject(entry)) return [];
    const server = inOurForm(client, entry);
    if (server === undefined || isOff(server)) return [];
    const written = escapeUnknownReferences(server) as JsonObject;
    const configuredAs = formsOf(written, environment).flatMap((form) => ours.get(form) ?? [])[0];
    return configuredAs === undefined ? [] : [{ name, configuredAs }];
  });
}

/** Enabled entries that start this program too, by the client's names: its tools would be there twice. */
export function otherEntriesOfUs(target: Target, start: StartCommand): string[] {
  const isOurs = ([name, entry]: readonly [string, JsonValue]) =>
    name !== OWN_NAME && isObject(entry) && !isOff(entry) && startsUs(target, entry, start);
  return [...target.entries].filter(isOurs).map(([name]) => name);
}

function isOff({ disabled, enabled }: JsonObject): boolean {
  return disabled === true || enabled === false;
}

/** As written, and with its variables filled in: one file may have the value and the other the variable's name. */
function formsOf(server: JsonObject, environment: Environment): string[] {
  const { enabled: _, disabled: __, ...rest } = server;
  const { type, ...untyped } = rest;
  // `command` and `url` imply the transport. Only the old transport has to be named.
  const plain = type === 'sse' ? rest : untyped;
  const { result, problems } = substitute(plain, environment);
  const forms = problems.length === 0 ? [plain, result.value] : [plain];
  return [...new Set(forms.map((form) => JSON.stringify(canonical(form as JsonValue))))];
}
