import type { CallArguments, DeliveryView, RunCall } from '../../../../src/domain/console/runs.js';
import { RequestError, request } from '../../api/request.js';
import { useResource } from '../../api/use-resource.js';
import { bytes, duration, time } from '../../lib/format.js';
import { linkTo } from '../../lib/router.js';
import { Foreign } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Badge, Facts, Problem, type Tone } from '../../ui/parts.js';
import { CallAnswer } from './call-answer.js';

const TONES: Readonly<Record<string, Tone>> = { ok: 'good', sent: 'live', pending: 'wait' };

/** One call: its arguments, duration and outcome, and the person who decided. */
export function CallDetail({
  runId,
  call,
  given,
  onLine,
  onAnswer,
}: {
  runId: string;
  /** The deliveries of an opened file: the host has no other data of such a run. */
  given: readonly DeliveryView[] | undefined;
  call: RunCall;
  onLine: (line: number) => void;
  onAnswer: (position: number) => void;
}) {
  const redacted = Object.entries(call.redactions ?? {});
  return (
    <div class="stack call-detail">
      <div class="row spread">
        <h3 class="mono">
          <Foreign text={call.isTool ? `${call.serverId}/${call.toolName}` : call.target} limit={160} />
        </h3>
        {call.isTool && (
          <a class="small" href={linkTo(['tools', call.serverId, call.toolName])}>
            Open the tool
          </a>
        )}
      </div>
      <Facts
        facts={[
          [
            'Verdict',
            call.isWaiting === true ? (
              <Badge tone="wait">waits for a person</Badge>
            ) : call.verdict === undefined ? (
              'not on record'
            ) : (
              <Badge tone={TONES[call.verdict] ?? 'bad'}>{call.verdict.replace('_', ' ')}</Badge>
            ),
          ],
          call.durationMs === undefined ? undefined : ['Duration', duration(call.durationMs)],
          call.startedAtMs === undefined ? undefined : ['Started', time(call.startedAtMs)],
          call.resultBytes === undefined ? undefined : ['Answer', bytes(call.resultBytes)],
          call.line === undefined
            ? undefined
            : [
                'Line',
                <button key="line" type="button" class="more" onClick={() => onLine(call.line ?? 1)}>
                  Go to line {call.line}
                </button>,
              ],
          call.answeredAt === undefined
            ? undefined
            : [
                'Delivery',
                <button key="delivery" type="button" class="more" onClick={() => onAnswer(call.answeredAt ?? 0)}>
                  Show delivery {call.answeredAt + 1}
                </button>,
              ],
          call.retries === undefined
            ? undefined
            : ['Sent again after', call.retries.map(({ failure }) => failure.replace('_', ' ')).join(', ')],
          redacted.length === 0
            ? undefined
            : ['Redacted', redacted.map(([kind, times]) => `${times} ${kind}`).join(', ')],
          call.approval === undefined
            ? undefined
            : [
                'Approval',
                `${call.approval.state.toLowerCase()}${call.approval.by === undefined ? '' : ` by ${call.approval.by}`}`,
              ],
        ]}
      />
      {given === undefined && call.number !== undefined && <Arguments runId={runId} number={call.number} />}
      {call.answeredAt !== undefined && <CallAnswer runId={runId} position={call.answeredAt} given={given} />}
    </div>
  );
}

function Arguments({ runId, number }: { runId: string; number: number }) {
  const { data, error } = useResource(`${runId} ${number}`, (signal) =>
    request<CallArguments>('callArguments', { path: { id: runId, number: String(number) }, signal }),
  );
  if (error instanceof RequestError && error.code === 'not_found') {
    return <p class="muted small">The arguments of this call are not kept.</p>;
  }
  if (error !== undefined) return <Problem error={error} />;
  if (data === undefined) return null;
  return (
    <div>
      <h3>Arguments</h3>
      <JsonTree value={data.arguments} label={`Arguments of call ${number}`} open={3} bare isCut={data.isCut} />
      {data.isCut && <p class="muted small">Cut: there are {bytes(data.bytes)}.</p>}
    </div>
  );
}
