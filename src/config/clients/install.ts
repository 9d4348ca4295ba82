import { constants, copyFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { HostError } from '../../domain/errors.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { pruneCopies } from '../files/prune-copies.js';
import { isObject } from '../schema/server-map.js';
import type { Environment } from '../variables/environment.js';
import { writeClientFile } from './client-file.js';
import { type EntryEdit, edited } from './client-format.js';
import { digestOf, type InstallRecord, writeRecord } from './install-record.js';
import type { StartCommand } from './registry.js';
import { OWN_NAME, startsUs, type Target } from './target.js';

export interface InstallPlan {
  /** `present`: our entry is there already and correct. */
  readonly state: 'added' | 'updated' | 'present';
  readonly entry: JsonObject;
  /** Servers to remove, by the client's names. */
  readonly removed: readonly string[];
  /** The new text of the file; absent if nothing has to change. */
  readonly text?: string;
}

export interface InstallWishes {
  readonly start: StartCommand;
  readonly removed: readonly string[];
  /** Whether to replace an entry of our name that starts something else. */
  readonly replacesForeign: boolean;
}

/** The changes that installing would make. Nothing is written. Throws `bad_input` if another program has our name. */
export function planInstall(target: Target, { start, removed, replacesForeign }: InstallWishes): InstallPlan {
  const { client, file, entries, record } = target;
  const existing = entries.get(OWN_NAME);
  const isOurs = record !== undefined || startsUs(target, existing, start);
  if (existing !== undefined && !isOurs && !replacesForeign) {
    throw new HostError(
      'bad_input',
      `${file.path} has a server called ${OWN_NAME} that is not this program; nothing was written. Rename it there, or add --force to replace it.`,
    );
  }
  const entry = isOurs ? keepingWhatWasAdded(client.entry(start), existing) : client.entry(start);
  const isPresent = isDeepStrictEqual(existing, entry);
  const edits: EntryEdit[] = removed.map((name) => ({ kind: 'remove', name }));
  if (!isPresent) edits.push({ kind: 'add', name: OWN_NAME, entry });
  return {
    state: isPresent ? 'present' : existing === undefined ? 'added' : 'updated',
    entry,
    removed,
    ...(edits.length === 0 ? {} : { text: edited(client.format, file.text ?? '', file.path, edits) }),
  };
}

/** A person may have added variables or a longer timeout to our entry. Those stay. */
function keepingWhatWasAdded(entry: JsonObject, existing: JsonValue | undefined): JsonObject {
  if (!isObject(existing)) return entry;
  const { type, command, args } = entry;
  const ours = { ...omitUndefined({ type }), command, ...omitUndefined({ args }) };
  return { ...entry, ...existing, ...(ours as JsonObject) };
}

/** Executes the plan: first a copy of the file, then the record of the changes, then the file. Returns the copy's path. */
export async function install(target: Target, plan: InstallPlan, environment: Environment): Promise<string | null> {
  const { client, file, record } = target;
  if (plan.text === undefined) return record?.backup ?? null;
  await makeFolder(dirname(file.path));
  const backup = record === undefined ? await backUp(target) : record.backup;
  // If the file was edited since our last edit, the copy lacks the user's changes.
  const isCopyCurrent = record === undefined || record.written === digestOf(file.text ?? '');
  const next: InstallRecord = {
    version: 1,
    client: client.id,
    file: file.path,
    backup,
    backupDigest: record === undefined ? (backup === null ? null : digestOf(file.text ?? '')) : record.backupDigest,
    removed: [...new Set([...(record?.removed ?? []), ...plan.removed])],
    written: isCopyCurrent ? digestOf(plan.text) : null,
  };
  await writeRecord(environment, next);
  await writeClientFile(file, plan.text);
  return backup;
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new HostError('bad_input', `${folder} could not be created: ${code}`, { cause: error });
  }
}

/** A copy beside the file, with its permissions. The first copy is kept, and the newest few of the later ones. */
async function backUp({ file }: Target): Promise<string | null> {
  if (file.text === undefined) return null;
  const stem = `${file.path}.codemode-backup`;
  for (let number = 1; ; number += 1) {
    const backup = `${stem}${number === 1 ? '' : `-${number}`}`;
    try {
      await copyFile(file.path, backup, constants.COPYFILE_EXCL);
      await pruneCopies(backup, stem);
      return backup;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') continue;
      throw new HostError('bad_input', `${backup} could not be written: ${code}; nothing was changed`, {
        cause: error,
      });
    }
  }
}
