import { rm } from 'node:fs/promises';
import { HostError } from '../../domain/errors.js';
import { readRegularFile } from '../../lib/files/read-regular-file.js';
import type { Environment } from '../variables/environment.js';
import { MAX_CLIENT_FILE_BYTES, writeClientFile } from './client-file.js';
import { type EntryEdit, edited } from './client-format.js';
import { digestOf, forgetRecord } from './install-record.js';
import type { StartCommand } from './registry.js';
import { OWN_NAME, startsUs, type Target } from './target.js';

export interface UninstallPlan {
  /**
   * `restored`: the file returns to its earlier content, byte for byte. `deleted`: it had only our entry. `edited`: it was changed
   * since, so only our entry is removed. `absent`: it has no entry of ours.
   */
  readonly state: 'restored' | 'deleted' | 'edited' | 'absent';
  /** Servers that are put back. */
  readonly restored: readonly string[];
  /** The copy that `install` made, if it was changed since. It is not used, and stays. */
  readonly changedBackup?: string;
  /** The new text of the file; absent if the file stays or is deleted. */
  readonly text?: string;
}

/** The changes that uninstalling would make. Nothing is written. */
export async function planUninstall(target: Target, start: StartCommand): Promise<UninstallPlan> {
  const copy = await backupOf(target);
  const isChanged = copy !== undefined && digestOf(copy) !== target.record?.backupDigest;
  const plan = planWith(target, start, isChanged ? undefined : copy);
  return isChanged && target.record?.backup ? { ...plan, changedBackup: target.record.backup } : plan;
}

/** `before`: the file before `install`, if known. */
function planWith(target: Target, start: StartCommand, before: string | undefined): UninstallPlan {
  const { client, file, record, entries } = target;
  if (file.text === undefined) return { state: 'absent', restored: [] };
  if (record !== undefined && record.written === digestOf(file.text)) {
    if (record.backup === null) return { state: 'deleted', restored: [] };
    if (before !== undefined) return { state: 'restored', restored: record.removed, text: before };
  }
  const existing = entries.get(OWN_NAME);
  if (existing !== undefined && record === undefined && !startsUs(target, existing, start)) {
    throw new HostError(
      'bad_input',
      `${file.path} has a server called ${OWN_NAME} that is not this program; nothing was written. Remove it by hand if you do not want it.`,
    );
  }
  const restored = before === undefined ? [] : (record?.removed ?? []).filter((name) => !entries.has(name));
  const edits: EntryEdit[] = restored.map((name) => ({ kind: 'copy', name, from: before ?? '' }));
  if (existing !== undefined) edits.unshift({ kind: 'remove', name: OWN_NAME });
  if (edits.length === 0) return { state: 'absent', restored: [] };
  return { state: 'edited', restored, text: edited(client.format, file.text, file.path, edits) };
}

export async function uninstall(target: Target, plan: UninstallPlan, environment: Environment): Promise<void> {
  const { file, record } = target;
  if (plan.state === 'deleted') await rm(file.path, { force: true });
  else if (plan.text !== undefined) await writeClientFile(file, plan.text);
  // A missing file may be restored from its copy.
  if (record === undefined || file.text === undefined) return;
  if (record.backup !== null && plan.changedBackup === undefined) await rm(record.backup, { force: true });
  await forgetRecord(environment, record);
}

async function backupOf({ record }: Target): Promise<string | undefined> {
  if (record === undefined || record.backup === null) return undefined;
  return readRegularFile(record.backup, MAX_CLIENT_FILE_BYTES).then(String, () => undefined);
}
