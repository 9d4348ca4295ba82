import type { RunCall } from '../../../../src/domain/console/runs.js';
import { counted } from '../../lib/format.js';
import { Foreign } from '../../ui/foreign.js';
import { Badge, type Tone } from '../../ui/parts.js';

const MAX_STEPS = 80;
const ROW = 60;
const LABEL_TONES: Readonly<Record<string, Tone>> = { private: 'info', untrusted: 'wait', external: 'bad' };

/** Consecutive calls of one tool. */
interface Step {
  readonly call: RunCall;
  readonly times: number;
  readonly isWrite: boolean;
}

/**
 * Which answers the program had before each write. Whether it used them is not known. So a line is drawn from every server with
 * labelled data to each later write.
 */
export function Flow({ calls }: { calls: readonly RunCall[] }) {
  const steps = stepsOf(calls.filter(({ isTool }) => isTool));
  const shown = steps.slice(0, MAX_STEPS);
  if (shown.length === 0) return <p class="muted">This run called no tool.</p>;
  const arrows = shown.flatMap(({ isWrite }, to) =>
    isWrite ? sourcesBefore(shown, to).map((from) => ({ from, to })) : [],
  );
  const height = shown.length * ROW;
  return (
    <div class="stack tight">
      <p class="muted small">
        Left: what the program read. Right: calls that may write
        {arrows.length === 0 && !shown.some(({ isWrite }) => isWrite) ? ' (none here)' : ''}. A line leads from data
        labelled private or untrusted to each write that came after it.
      </p>
      <div class="flow" style={{ height: `${height}px` }}>
        <svg class="flow-lines" viewBox={`0 0 100 ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {arrows.map(({ from, to }) => {
            const [y1, y2] = [from * ROW + ROW / 2, to * ROW + ROW / 2];
            return (
              <path
                key={`${from}-${to}`}
                class={shown[to]?.call.labels.includes('external') ? 'out' : ''}
                d={`M0 ${y1} C 60 ${y1}, 40 ${y2}, 100 ${y2}`}
                vector-effect="non-scaling-stroke"
              />
            );
          })}
        </svg>
        <ol>
          {shown.map(({ call, times, isWrite }, index) => (
            <li key={`${index} ${call.target}`} class={isWrite ? 'write' : 'read'} style={{ top: `${index * ROW}px` }}>
              <span class="flow-step">
                <span class="mono clip">
                  <Foreign text={`${call.serverId}/${call.toolName}`} limit={70} />
                </span>
                <span class="row tight small">
                  <span class="muted">
                    {isWrite ? 'write' : 'read'}
                    {times > 1 && `, ${counted(times, 'call')}`}
                  </span>
                  {call.labels.map((label) => (
                    <Badge key={label} tone={LABEL_TONES[label] ?? 'calm'}>
                      {label}
                    </Badge>
                  ))}
                </span>
              </span>
            </li>
          ))}
        </ol>
      </div>
      {steps.length > shown.length && <p class="muted">The first {shown.length} steps are shown.</p>}
    </div>
  );
}

export function stepsOf(calls: readonly RunCall[]): readonly Step[] {
  const steps: { call: RunCall; times: number; isWrite: boolean }[] = [];
  for (const call of calls) {
    const last = steps.at(-1);
    if (last?.call.target === call.target && last.call.serverId === call.serverId) last.times += 1;
    else steps.push({ call, times: 1, isWrite: call.isReadOnly !== true });
  }
  return steps;
}

/** The last step of each labelled server before this one. */
function sourcesBefore(steps: readonly Step[], to: number): readonly number[] {
  const last = new Map<string, number>();
  for (const [index, { call }] of steps.slice(0, to).entries()) {
    if (call.labels.includes('private') || call.labels.includes('untrusted')) last.set(call.serverId, index);
  }
  return [...last.values()];
}
