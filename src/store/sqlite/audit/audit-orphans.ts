import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { AuditEntry } from '../../../domain/audit.js';
import { isProcessAlive } from '../../../lib/files/process-identity.js';
import type { AuditKeys } from '../../audit-keys.js';
import { JOURNAL_ENDING, JOURNAL_FOLDER, type JournalEntry, type JournalHeader } from './audit-journal.js';

/** A host empties its journal long before. */
const MAX_JOURNAL_BYTES = 256 * 1024 * 1024;

const headerSchema = z.object({
  format: z.literal(1),
  host: z.string().min(1),
  process: z.string(),
  from: z.number().int().nonnegative(),
});

/** What a host that is gone has left. */
export interface OrphanedJournal {
  readonly host: string;
  readonly from: number;
  /** In the order in which they were written; of a call the last one counts. */
  readonly entries: readonly JournalEntry[];
  remove(): void;
}

/** Journals of hosts that are gone. Throws where one was not left as its host wrote it. */
export function orphanedJournals(stateFolder: string, keys: AuditKeys): OrphanedJournal[] {
  return journalFiles(stateFolder).flatMap((file) => {
    const text = readJournal(file);
    const journal = text === undefined ? undefined : parseJournal(text, file, keys);
    return journal === undefined ? [] : [journal];
  });
}

/** Of each call the last word, where the chain does not have it yet. */
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

/** Gives up what hosts that are gone have left, readable or not. */
export function removeOrphans(stateFolder: string, keys: AuditKeys): void {
  for (const file of journalFiles(stateFolder)) {
    try {
      const text = readJournal(file);
      if (text !== undefined && parseJournal(text, file, keys) === undefined) continue;
    } catch {
      // It was changed.
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

/** Undefined where another host was faster. */
function readJournal(file: string): string | undefined {
  try {
    if (statSync(file).size > MAX_JOURNAL_BYTES) throw new JournalProblem(file);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Undefined where its host is still there. */
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
    // The end: a line that was being written when the host was killed, or lines of an earlier time.
    if (read === undefined) break;
    // Ours by its mac, so in the form in which we wrote it.
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

/** A journal that is not as its host left it. */
export class JournalProblem extends Error {
  constructor(file: string) {
    super(`what a host that is gone has left in ${file} was changed`);
  }
}
