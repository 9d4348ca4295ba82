import type { ChainHead, ChainReport } from '../domain/audit.js';
import { ifDefined, omitUndefined } from '../lib/omit-undefined.js';
import {
  type Anchor,
  type AuditKeys,
  type AuditRow,
  anchorParts,
  GENESIS,
  hashOf,
  type ReadHead,
} from './audit-keys.js';
import { valuesIn } from './audit-records.js';

export interface Chain {
  readonly keys: AuditKeys;
  readonly sealed: ReadHead;
  readonly anchor: Anchor | undefined;
  readonly rows: Iterable<AuditRow>;
  readonly expected?: ChainHead;
}

/** Walks the chain from its beginning to its end, and stops at the first record that was changed. */
export function verifyChain({ keys, sealed, anchor, rows, expected }: Chain): ChainReport {
  let head: ChainHead = anchor ?? GENESIS;
  let records = 0;
  /** Heads that the walk must reach, and what names each of them. */
  const named = [
    ...(typeof sealed === 'string' ? [] : [{ ...sealed, by: 'the sealed head' }]),
    ...(expected === undefined ? [] : [{ ...expected, by: 'the head that was noted down' }]),
  ];
  const report = (problem?: ChainReport['problem']): ChainReport => ({
    isIntact: problem === undefined,
    records,
    first: (anchor?.count ?? 0) + 1,
    head: { count: head.count, hash: head.hash },
    ...(typeof sealed === 'string' ? {} : { sealed }),
    ...omitUndefined({
      problem,
      cut: ifDefined(anchor, (anchor) => ({ count: anchor.count, atMs: anchor.at_ms, reason: anchor.reason })),
    }),
  });
  const meets = (): ChainReport['problem'] => {
    const other = named.find(({ count, hash }) => count === head.count && hash !== head.hash);
    return other && { record: head.count, reason: `${other.by} has another hash for this record` };
  };

  if (anchor !== undefined && !keys.isMac(anchor.mac, 'anchor', ...anchorParts(anchor)))
    return report({
      record: anchor.count,
      reason: 'the note of what was removed before it was not written by this host',
    });
  const atStart = head.count === 0 ? undefined : meets();
  if (atStart !== undefined) return report(atStart);
  for (const row of rows) {
    const problem = problemOf(row, head, keys);
    if (problem !== undefined) return report({ record: row.number, reason: problem });
    head = { count: row.number, hash: row.hash };
    records++;
    const missed = meets();
    if (missed !== undefined) return report(missed);
  }
  if (sealed === 'missing' && head.count > 0)
    return report({ record: head.count, reason: 'the sealed head (the file audit.head) is gone' });
  if (sealed === 'forged')
    return report({ record: head.count, reason: 'the sealed head (the file audit.head) was not written by this host' });
  const behind = named.find(({ count }) => count > head.count);
  return report(
    behind && {
      record: head.count + 1,
      reason: `the chain ends at ${head.count}, but ${behind.by} names record ${behind.count}: the last ${behind.count - head.count} are gone`,
    },
  );
}

export function problemOf(row: AuditRow, before: ChainHead, keys: AuditKeys): string | undefined {
  if (row.number !== before.count + 1)
    return row.number <= before.count
      ? `it is before the start of the chain, which is ${before.count + 1}`
      : `the record before it should be ${row.number - 1} and is ${before.count}: records are gone`;
  if (hashOf(valuesIn(row), before.hash) !== row.hash)
    return 'its hash does not match its content, or the record before it';
  if (!keys.isMac(row.mac, 'record', row.hash)) return 'it was not written by a host with this key';
  return undefined;
}
