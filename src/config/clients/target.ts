import { access } from 'node:fs/promises';
import { HostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { isOurselves } from '../import/plan-import.js';
import { isObject } from '../schema/server-map.js';
import type { Environment } from '../variables/environment.js';
import { type ClientFile, readClientFile } from './client-file.js';
import { entriesOf } from './client-format.js';
import { type InstallRecord, readRecord } from './install-record.js';
import { type Client, inOurForm, placesOf, type StartCommand } from './registry.js';

/** Our name in the files of clients. */
export const OWN_NAME = 'codemode';

/** A client on this machine, and the current content of its file. */
export interface Target {
  readonly client: Client;
  readonly file: ClientFile;
  /** Whether the client has a file or folder on this machine. */
  readonly isFound: boolean;
  /** Its servers, in its own form. */
  readonly entries: ReadonlyMap<string, JsonValue>;
  readonly record?: InstallRecord;
}

/** Inspects one client. Throws `bad_input` if its file cannot be read or is not valid. */
export async function openTarget(client: Client, environment: Environment, platform: NodeJS.Platform): Promise<Target> {
  const places = placesOf(environment, platform);
  const candidates = client.files(places);
  const existing = await firstThere(candidates);
  const file = await readClientFile(existing ?? candidates[0] ?? '');
  const record = await readRecord(environment, client.id, file.path);
  const entries =
    file.text === undefined ? new Map<string, JsonValue>() : entriesOf(client.format, file.text, file.path);
  const problem = client.unsupported?.(entries);
  if (problem !== undefined)
    throw new HostError(
      'bad_input',
      `${file.path}: ${problem}, which codemode cannot edit yet; nothing was written. Add the entry by hand: docs/reference/clients.md shows it.`,
    );
  return {
    client,
    file,
    isFound: file.text !== undefined || (await isThere(client.folder(places))),
    entries,
    ...omitUndefined({ record }),
  };
}

/** Whether an entry starts this program, from any installation. */
export function startsUs({ client }: Target, entry: JsonValue | undefined, start: StartCommand): boolean {
  if (!isObject(entry)) return false;
  const plain = inOurForm(client, entry);
  const script = start.args[0];
  if (plain === undefined) return false;
  return isOurselves(plain) || (Array.isArray(plain.args) && script !== undefined && plain.args.includes(script));
}

async function firstThere(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) if (await isThere(file)) return file;
  return undefined;
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT' && code !== 'ENOTDIR',
  );
}
