import { useMemo } from 'preact/hooks';
import type { RunCall } from '../../../../src/domain/console/runs.js';
import { counted, duration } from '../../lib/format.js';
import { Foreign, ForeignLine, foreignLabel } from '../../ui/foreign.js';
import { VirtualList } from '../../ui/virtual-list.js';
import { type Interval, timeScale } from './time-scale.js';

const ROW = 28;
const GOOD: ReadonlySet<string> = new Set(['ok', 'sent', 'pending']);

export interface WaterfallProps {
  readonly calls: readonly RunCall[];
  readonly callCount: number;
  readonly selected: number | undefined;
  readonly activeLine: number | undefined;
  /** Calls that are answered at this point of the replay; all of them where it is absent. */
  readonly isAnswered?: ((call: RunCall) => boolean) | undefined;
  readonly onSelect: (index: number) => void;
}

/** Every call as a bar on one scale of time, in the colour of its server. */
export function Waterfall({ calls, callCount, selected, activeLine, isAnswered, onSelect }: WaterfallProps) {
  const hues = useMemo(() => hueOf(calls), [calls]);
  const scale = useMemo(() => timeScale(calls.flatMap(intervalsOf)), [calls]);
  const isTimed = calls.some(({ startedAtMs }) => startedAtMs !== undefined);
  return (
    <>
      <div class="legend">
        {[...hues].map(([server, hue]) => (
          <span key={server}>
            <span class={`swatch hue-${hue}`} />
            <Foreign text={server} limit={40} />
          </span>
        ))}
        {isTimed && (
          <span class="muted num legend-scale">
            {duration(scale.shownMs)}
            {scale.gaps.length > 0 &&
              `, without ${counted(scale.gaps.length, 'wait')} of ${duration(scale.gaps.reduce((sum, { from, to }) => sum + to - from, 0))}`}
          </span>
        )}
      </div>
      <div class="waterfall">
        <VirtualList
          label="Calls"
          count={calls.length}
          rowHeight={ROW}
          height={`${Math.min(calls.length, 16) * ROW}px`}
          active={selected}
          row={(index) => {
            const call = calls[index];
            if (call === undefined) return null;
            const isFailed = call.verdict !== undefined && !GOOD.has(call.verdict);
            const answered = isAnswered?.(call) ?? true;
            const classes = [
              'wf-row',
              index === selected && 'selected',
              activeLine !== undefined && call.line === activeLine && 'on-line',
              !answered && 'later',
            ].filter(Boolean);
            return (
              <button
                type="button"
                class={classes.join(' ')}
                aria-pressed={index === selected}
                onClick={() => onSelect(index)}
              >
                <span class="wf-name clip mono">
                  <span class="muted num">{call.number ?? '·'} </span>
                  <ForeignLine text={call.isTool ? call.toolName : call.target} limit={80} />
                </span>
                <span class="wf-track" aria-hidden="true">
                  {scale.gaps.map(({ at, width }) => (
                    <span key={at} class="wf-gap" style={{ left: `${at * 100}%`, width: `${width * 100}%` }} />
                  ))}
                  <Bars call={call} hue={hues.get(call.serverId) ?? 1} place={scale.place} isFailed={isFailed} />
                </span>
                <span class={`wf-time num ${isFailed ? 'tone-bad' : 'muted'}`}>
                  {isFailed
                    ? call.verdict?.replace('_', ' ')
                    : call.durationMs === undefined
                      ? ''
                      : duration(call.durationMs)}
                </span>
              </button>
            );
          }}
        />
      </div>
      {callCount > calls.length && (
        <p class="muted small panel-body">
          The first {calls.length} of {callCount} calls are shown.
        </p>
      )}
    </>
  );
}

function Bars({
  call,
  hue,
  place,
  isFailed,
}: {
  call: RunCall;
  hue: number;
  place: (ms: number) => number;
  isFailed: boolean;
}) {
  if (call.startedAtMs === undefined) return null;
  const { askedAtMs, decidedAtMs } = call.approval ?? {};
  const bar = (from: number, to: number) => {
    const left = place(from) * 100;
    return { left: `min(${left}%, calc(100% - 4px))`, width: `max(${place(to) * 100 - left}%, 4px)` };
  };
  return (
    <>
      {askedAtMs !== undefined && (
        <span class="wf-wait" style={bar(askedAtMs, decidedAtMs ?? call.startedAtMs)} title="Waited for a person" />
      )}
      <span
        class={`wf-bar hue-${hue} ${call.isTool ? '' : 'own'} ${isFailed ? 'failed' : ''}`}
        title={`${foreignLabel(call.target)}${call.line === undefined ? '' : `, line ${call.line}`}`}
        style={bar(call.startedAtMs, call.startedAtMs + (call.durationMs ?? 0))}
      />
    </>
  );
}

function intervalsOf({ startedAtMs, durationMs = 0 }: RunCall): readonly Interval[] {
  return startedAtMs === undefined ? [] : [{ from: startedAtMs, to: startedAtMs + Math.max(1, durationMs) }];
}

/** A colour for each server, in the order of their first calls. */
export function hueOf(calls: readonly RunCall[]): ReadonlyMap<string, number> {
  const hues = new Map<string, number>();
  for (const { serverId } of calls) if (!hues.has(serverId)) hues.set(serverId, (hues.size % 8) + 1);
  return hues;
}
