import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { AuditEntry } from '../../../domain/audit.js';
import { isProcessAlive } from '../../../lib/files/process-identity.js';
import type { AuditKeys } from '../../audit-keys.js';
import { JOURNAL_ENDING, JOURNAL_FOLDER, type JournalEntry, type JournalHeader } from './audit-journal.js';

/** Far more than a host lets its journal grow. */
const MAX_JOURNAL_BYTES = 256 * 1024 * 1024;

const headerSchema = z.object({
  format: z.literal(1),
  host: z.string().min(1),
  process: z.string(),
  from: z.number().int().nonnegative(),
});

/** The journal of a host that is gone. */
export interface OrphanedJournal {
  readonly host: string;
  readonly from: number;
  /** In the order in which they were written. The last entry of a call counts. */
  readonly entries: readonly JournalEntry[];
  remove(): void;
}

/** Journals of hosts that are gone. Throws if one was changed after its host wrote it. */
export function orphanedJournals(stateFolder: string, keys: AuditKeys): OrphanedJournal[] {
  return journalFiles(stateFolder).flatMap((file) => {
    const text = readJournal(file);
    const journal = text === undefined ? undefined : parseJournal(text, file, keys);
    return journal === undefined ? [] : [journal];
  });
}

/** The final outcome of each call whose outcome is not in the chain yet. */
export function missingOutcomes(recorded: readonly AuditEntry[], left: readonly JournalEntry[]): AuditEntry[] {
  const known = new Map(recorded.map((entry) => [entry.callId, entry]));
  const open = new Map([...known].filter(([, { verdict }]) => verdict === 'sent'));
  const ended = new Map<string, AuditEntry>();
  for (const entry of left) {
    const sent = open.get(entry.callId);
    if ('runId' in entry) {
      if (!known.has(entry.callId)) open.set(entry.callId, entry);
    } else if (sent !== undefined) ended.set(entry.callId, { ...sent, ...entry });
  }
  for (const [callId, entry] of open) {
    if (!ended.has(callId)) ended.set(callId, { ...entry, verdict: 'outcome_unknown' });
  }
  return [...ended.values()];
}

/** Deletes the journals of hosts that are gone, readable or not. */
export function removeOrphans(stateFolder: string, keys: AuditKeys): void {
  for (const file of journalFiles(stateFolder)) {
    try {
      const text = readJournal(file);
      if (text !== undefined && parseJournal(text, file, keys) === undefined) continue;
    } catch {
      // The journal was changed.
    }
    rmSync(file, { force: true });
  }
}

function journalFiles(stateFolder: string): string[] {
  const folder = join(stateFolder, JOURNAL_FOLDER);
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(JOURNAL_ENDING) && !name.startsWith('.'))
      .map((name) => join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Undefined if another host has already removed it. */
function readJournal(file: string): string | undefined {
  try {
    if (statSync(file).size > MAX_JOURNAL_BYTES) throw new JournalProblem(file);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Undefined if its host is still alive. */
function parseJournal(text: string, file: string, keys: AuditKeys): OrphanedJournal | undefined {
  const [first, ...rest] = text.split('\n');
  const header = readLine(first ?? '', '', keys);
  const parsed = headerSchema.safeParse(header?.value);
  if (header === undefined || !parsed.success) throw new JournalProblem(file);
  const { host, from, process }: JournalHeader = parsed.data;
  if (isProcessAlive(process)) return undefined;
  const entries: JournalEntry[] = [];
  let mac = header.mac;
  for (const line of rest) {
    const read = readLine(line, mac, keys);
    // The end: a line that was being written when the host was killed, or lines from before the file was overwritten.
    if (read === undefined) break;
    // The mac shows that we wrote it, so it has our format.
    entries.push(read.value as JournalEntry);
    mac = read.mac;
  }
  return { host, from, entries, remove: () => rmSync(file, { force: true }) };
}

function readLine(line: string, macBefore: string, keys: AuditKeys): { mac: string; value: unknown } | undefined {
  const [mac = '', body] = splitOnce(line);
  if (body === undefined || !keys.isJournalMac(mac, macBefore, body)) return undefined;
  return { mac, value: JSON.parse(body) };
}

function splitOnce(line: string): [string, string?] {
  const at = line.indexOf(' ');
  return at === -1 ? [line] : [line.slice(0, at), line.slice(at + 1)];
}

/** A journal that was changed after its host wrote it. */
export class JournalProblem extends Error {
  constructor(file: string) {
    super(`the records that a stopped host left in ${file} were changed`);
  }
}
