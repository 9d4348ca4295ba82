import { useEffect, useMemo, useState } from 'preact/hooks';
import type { RunCall } from '../../../../src/domain/console/runs.js';
import { hostNow } from '../../api/session-state.js';
import { counted, duration } from '../../lib/format.js';
import { Foreign, ForeignLine, foreignLabel } from '../../ui/foreign.js';
import { VirtualList } from '../../ui/virtual-list.js';
import { type Interval, timeScale } from './time-scale.js';

const ROW = 28;
const MAX_ROWS = 16;
const WAIT_SHOWN_MS = 200;
const GOOD: ReadonlySet<string> = new Set(['ok', 'sent', 'pending']);

export interface WaterfallProps {
  readonly calls: readonly RunCall[];
  readonly callCount: number;
  readonly selected: number | undefined;
  readonly activeLine: number | undefined;
  /** Whether a call is answered at this point of the replay. Absent: all calls are. */
  readonly isAnswered?: ((call: RunCall) => boolean) | undefined;
  readonly onSelect: (index: number) => void;
}

/** Every call as a bar on one time scale, in the colour of its server. */
export function Waterfall({ calls, callCount, selected, activeLine, isAnswered, onSelect }: WaterfallProps) {
  const hues = useMemo(() => hueOf(calls), [calls]);
  const isOpen = calls.some((call) => call.isWaiting === true || call.verdict === 'sent');
  const nowMs = useNow(isOpen);
  const scale = useMemo(() => timeScale(calls.flatMap((call) => intervalsOf(call, nowMs))), [calls, nowMs]);
  const isTimed = calls.some((call) => intervalsOf(call, nowMs).length > 0);
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
      <div class={`waterfall ${calls.length > MAX_ROWS ? 'scrolls' : ''}`}>
        {isTimed && (
          <div class="wf-axis" aria-hidden="true">
            <span />
            <span class="wf-ticks">
              {scale.ticks.map(({ ms, at }) => (
                <span key={ms} class="num" style={{ left: `${at * 100}%` }}>
                  {tickLabel(ms)}
                </span>
              ))}
            </span>
          </div>
        )}
        <VirtualList
          label="Calls"
          count={calls.length}
          rowHeight={ROW}
          height={`${Math.min(calls.length, MAX_ROWS) * ROW}px`}
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
              call.isWaiting === true && 'waiting',
            ].filter(Boolean);
            return (
              <button
                type="button"
                class={classes.join(' ')}
                aria-pressed={index === selected}
                onClick={() => onSelect(index)}
              >
                <span class={`wf-name clip mono depth-${Math.min(call.depth ?? 0, 4)}`}>
                  <span class="muted num wf-number">{shortNumber(call)}</span>
                  {call.script === undefined ? (
                    <ForeignLine text={call.isTool ? call.toolName : call.target} limit={80} />
                  ) : (
                    <>
                      <span class="muted">script </span>
                      <ForeignLine text={call.script} limit={80} />
                    </>
                  )}
                </span>
                <span class="wf-track" aria-hidden="true">
                  {isTimed &&
                    scale.ticks.map(({ at }) => <span key={at} class="wf-tick" style={{ left: `${at * 100}%` }} />)}
                  {scale.gaps.map(({ at, width }) => (
                    <span key={at} class="wf-gap" style={{ left: `${at * 100}%`, width: `${width * 100}%` }} />
                  ))}
                  <Bars
                    call={call}
                    hue={hues.get(call.serverId) ?? 1}
                    place={scale.place}
                    isFailed={isFailed}
                    nowMs={nowMs}
                  />
                </span>
                <span class={`wf-time num ${isFailed ? 'tone-bad' : call.isWaiting === true ? 'tone-wait' : 'muted'}`}>
                  {call.retries !== undefined && (
                    <span class="wf-retries" title={counted(call.retries.length, 'failed attempt')}>
                      ↻{call.retries.length}{' '}
                    </span>
                  )}
                  {outcomeWord(call, isFailed)}
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
  nowMs,
}: {
  call: RunCall;
  hue: number;
  place: (ms: number) => number;
  isFailed: boolean;
  nowMs: number;
}) {
  const { askedAtMs, decidedAtMs } = call.approval ?? {};
  const { startedAtMs } = call;
  const isUnderWay = call.verdict === 'sent';
  const bar = (from: number, to: number) => {
    const left = place(from) * 100;
    return { left: `min(${left}%, calc(100% - 4px))`, width: `max(${place(to) * 100 - left}%, 4px)` };
  };
  return (
    <>
      {askedAtMs !== undefined && (
        <span
          class="wf-wait"
          style={bar(askedAtMs, decidedAtMs ?? (call.isWaiting === true ? nowMs : (startedAtMs ?? askedAtMs)))}
          title={call.isWaiting === true ? 'Waits for a person' : 'Waited for a person'}
        />
      )}
      {startedAtMs !== undefined && (
        <span
          class={`wf-bar hue-${hue} ${call.isTool ? '' : 'own'} ${isFailed ? 'failed' : ''} ${isUnderWay ? 'under-way' : ''}`}
          title={`${foreignLabel(call.target)}${call.line === undefined ? '' : `, line ${call.line}`}`}
          style={bar(startedAtMs, isUnderWay ? nowMs : startedAtMs + (call.durationMs ?? 0))}
        />
      )}
      {call.retries?.map(({ atMs, failure }) => (
        <span
          key={atMs}
          class="wf-retry"
          style={{ left: `${place(atMs) * 100}%` }}
          title={`Sent again after: ${failure.replace('_', ' ')}`}
        />
      ))}
    </>
  );
}

/** The time in which a call was active. A wait in progress has a minimum width, so that it is visible. */
function intervalsOf(
  { startedAtMs, durationMs = 0, verdict, isWaiting, approval }: RunCall,
  nowMs: number,
): readonly Interval[] {
  if (isWaiting === true) {
    const { askedAtMs } = approval ?? {};
    return askedAtMs === undefined ? [] : [{ from: askedAtMs, to: askedAtMs + WAIT_SHOWN_MS }];
  }
  if (startedAtMs === undefined) return [];
  const to = verdict === 'sent' ? nowMs : startedAtMs + durationMs;
  return [{ from: startedAtMs, to: Math.max(startedAtMs + 1, to) }];
}

function outcomeWord(call: RunCall, isFailed: boolean): string {
  if (call.isWaiting === true) return 'waiting';
  if (call.verdict === 'sent') return 'under way';
  // Nothing was sent yet: the run is resumed when the other calls are decided too.
  if (call.verdict === 'pending') {
    const state = call.approval?.state;
    return state === 'APPROVED' || state === 'DENIED' ? state.toLowerCase() : 'not decided';
  }
  if (isFailed) return call.verdict?.replace('_', ' ') ?? '';
  return call.durationMs === undefined ? '' : duration(call.durationMs);
}

/** A round number, without the decimals of a measured one. */
function tickLabel(ms: number): string {
  if (ms === 0) return '0';
  return ms < 60_000
    ? duration(ms).replace(/\.0+(?= s)|(\.\d)0(?= s)/, '$1')
    : duration(ms).replace(/ 0 (?:s|min)$/, '');
}

/** Calls of stored scripts are numbered within their script: that number is the readable one. */
function shortNumber({ number, depth = 0 }: RunCall): string {
  if (number === undefined) return '·';
  return depth === 0 ? String(number) : `${number % 2 ** 32}`;
}

/** The host's time, updated every second while something is in progress. */
function useNow(isTicking: boolean): number {
  const [nowMs, setNow] = useState(hostNow);
  useEffect(() => {
    if (!isTicking) return;
    const timer = setInterval(() => setNow(hostNow()), 1_000);
    return () => clearInterval(timer);
  }, [isTicking]);
  return nowMs;
}

/** A hue for each server, in the order of their first calls. */
export function hueOf(calls: readonly RunCall[]): ReadonlyMap<string, number> {
  const hues = new Map<string, number>();
  for (const { serverId } of calls) if (!hues.has(serverId)) hues.set(serverId, (hues.size % 8) + 1);
  return hues;
}
