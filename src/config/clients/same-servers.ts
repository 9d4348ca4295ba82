import type { JsonObject, JsonValue } from '../../domain/json.js';
import { parseTomlDocument, parseYaml } from '../files/document.js';
import { readConfigFile } from '../files/read-file.js';
import { detectFormat, importForeign } from '../import/import.js';
import { canonical } from '../import/plan-import.js';
import { isObject, shapeServers } from '../schema/server-map.js';
import type { Environment } from '../variables/environment.js';
import { escapeUnknownReferences, substitute } from '../variables/substitute.js';
import { inOurForm } from './registry.js';
import { OWN_NAME, type Target } from './target.js';

/** A server that the client has, and codemode too. */
export interface SharedServer {
  /** As the client calls it. */
  readonly name: string;
  /** As codemode calls it. */
  readonly configuredAs: string;
}

/** The servers of a configuration file as they are written there. Throws `bad_config`. */
export async function configuredServers(file: string): Promise<Readonly<Record<string, JsonValue>>> {
  const text = await readConfigFile(file);
  const { value } = file.endsWith('.toml') ? parseTomlDocument(text, file) : parseYaml(text, file);
  if (!isObject(value)) return {};
  const format = detectFormat(file, value);
  const shaped = format === undefined ? shapeServers(value) : importForeign(value, format);
  return isObject(shaped.value) && isObject(shaped.value.mcpServers) ? shaped.value.mcpServers : {};
}

/** Which servers of a client are, by what they say and not by their names, in this configuration and switched on in both. */
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

function isOff({ disabled, enabled }: JsonObject): boolean {
  return disabled === true || enabled === false;
}

/** As it is written, and with its variables filled in: one of the two files may have the value where the other has its name. */
function formsOf(server: JsonObject, environment: Environment): string[] {
  const { enabled: _, disabled: __, ...rest } = server;
  const { type, ...untyped } = rest;
  // How it is reached shows in `command` and `url`; only the old transport has to be named.
  const plain = type === 'sse' ? rest : untyped;
  const { result, problems } = substitute(plain, environment);
  const forms = problems.length === 0 ? [plain, result.value] : [plain];
  return [...new Set(forms.map((form) => JSON.stringify(canonical(form as JsonValue))))];
}
