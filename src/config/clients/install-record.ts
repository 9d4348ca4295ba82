import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { HostError } from '../../domain/errors.js';
import { readRegularFile } from '../../lib/files/read-regular-file.js';
import { writeWhole } from '../../lib/files/write-whole.js';
import { stateFolder } from '../files/state-folder.js';
import type { Environment } from '../variables/environment.js';

const recordSchema = z.object({
  version: z.literal(1),
  client: z.string(),
  /** The client's file, links resolved. */
  file: z.string(),
  /** A copy of the file before the install; null if there was no file. */
  backup: z.string().nullable(),
  /** Digest of the copy when it was made. A copy that was changed since is not restored. */
  backupDigest: z.string().nullable().default(null),
  /** Servers that were removed from it. */
  removed: z.array(z.string()),
  /** Digest of the file as we left it; null if it was changed between two of our edits, so that the backup is out of date. */
  written: z.string().nullable(),
});

const MAX_RECORD_BYTES = 1024 * 1024;

/** The changes that `install` made to a client's file, for `uninstall`. */
export type InstallRecord = z.output<typeof recordSchema>;

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Undefined if there is no readable record. Then only our own entry is known to be ours. */
export async function readRecord(
  environment: Environment,
  client: string,
  file: string,
): Promise<InstallRecord | undefined> {
  try {
    const bytes = await readRegularFile(placeOf(environment, client, file), MAX_RECORD_BYTES);
    const parsed = recordSchema.safeParse(JSON.parse(bytes.toString('utf8')));
    return parsed.success && parsed.data.file === file ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

export async function writeRecord(environment: Environment, record: InstallRecord): Promise<void> {
  const place = placeOf(environment, record.client, record.file);
  try {
    await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    await writeWhole(place, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600, replaces: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new HostError(
      'bad_input',
      `${place} could not be written (${code}), and without it uninstall would not know what to restore; nothing was changed. Make its folder writable, or set CODEMODE_HOME to one that is.`,
      { cause: error },
    );
  }
}

export async function forgetRecord(environment: Environment, { client, file }: InstallRecord): Promise<void> {
  await rm(placeOf(environment, client, file), { force: true });
}

/** One record per file: a client may have several home folders. */
function placeOf(environment: Environment, client: string, file: string): string {
  return join(stateFolder(environment), 'clients', `${client}-${digestOf(file).slice(0, 12)}.json`);
}
