import { useState } from 'preact/hooks';
import type { ChainReport } from '../../../../src/domain/audit.js';
import { request } from '../../api/request.js';
import { count, counted, time } from '../../lib/format.js';
import { Foreign } from '../../ui/foreign.js';
import { ActionButton, Badge } from '../../ui/parts.js';

/** Shows what the check of the chain covered, and what it does not prove. */
export function ChainCheck() {
  const [report, setReport] = useState<ChainReport>();
  const verify = async () => setReport(await request<ChainReport>('verifyAudit'));
  return (
    <section class="panel panel-body stack tight" aria-label="Verification of the chain">
      <div class="row spread">
        <div class="row grow" role="status">
          {report === undefined ? (
            <span class="muted">Not verified yet.</span>
          ) : report.isIntact ? (
            <>
              <Badge tone="good">intact</Badge>
              <span>
                {counted(report.records, 'record')}, from number {count(report.first)} to {count(report.head.count)}:
                each hash matches its record and the one before.
              </span>
            </>
          ) : (
            <>
              <Badge tone="bad">broken</Badge>
              <span>
                At record {count(report.problem?.record ?? 0)}:{' '}
                <Foreign text={report.problem?.reason ?? 'unknown'} limit={400} />
              </span>
            </>
          )}
        </div>
        <ActionButton run={verify}>Verify the chain</ActionButton>
      </div>
      {report !== undefined && (
        <ul class="small muted">
          {report.callsRefused === true && <li class="tone-bad">Hosts refuse calls until this is settled.</li>}
          {report.cut !== undefined && (
            <li>
              {counted(report.cut.count, 'earlier record was', 'earlier records were')} removed at{' '}
              {time(report.cut.atMs)}: <Foreign text={report.cut.reason} limit={200} />
            </li>
          )}
          <li>
            {report.sealed === undefined
              ? 'No sealed head was found, so records removed from the end would go unnoticed.'
              : report.sealed.count === report.head.count
                ? 'The sealed head agrees with the last record: nothing was removed from the end.'
                : `The sealed head covers ${counted(report.sealed.count, 'record')}; the log has ${count(report.head.count)}.`}
          </li>
          <li>
            This detects changes by anyone without the host&apos;s key. Against someone who has the key and the state
            folder, keep an exported copy elsewhere.
          </li>
        </ul>
      )}
    </section>
  );
}
