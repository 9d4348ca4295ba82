import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { DeliveryPage, DeliveryView, RunCall } from '../../../../src/domain/console/runs.js';
import { request } from '../../api/request.js';
import { useResource } from '../../api/use-resource.js';
import { bytes, count, duration } from '../../lib/format.js';
import { Foreign } from '../../ui/foreign.js';
import { ActionButton, Badge, Problem } from '../../ui/parts.js';

const PAGE = 200;
const STEP_MS = 350;
const KIND_WORDS = {
  result: 'answer of a call',
  error: 'error of a call',
  timer: 'a timer fired',
  clock: 'the clock was read',
  engine: 'another engine took over',
} as const;

/** A slider over the journal: what the program knew after each delivery. */
export function Journal({
  runId,
  calls,
  total,
  given,
  position,
  onPosition,
  children,
}: {
  runId: string;
  calls: readonly RunCall[];
  total: number;
  /** The deliveries of an opened file. */
  given?: readonly DeliveryView[] | undefined;
  /** Number of deliveries made; absent: all of them. */
  position: number | undefined;
  onPosition: (position: number | undefined) => void;
  /** Further actions. */
  children?: ComponentChildren;
}) {
  const at = position ?? total;
  const [isPlaying, setPlaying] = useState(false);
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setInterval(() => {
      if (at >= total) setPlaying(false);
      else onPosition(at + 1);
    }, STEP_MS);
    return () => clearInterval(timer);
  }, [isPlaying, at, total]);

  const step = (by: number) => at + by >= 0 && at + by <= total && onPosition(at + by);

  if (total === 0) return <p class="muted">The journal of this run is empty: nothing was delivered to the program.</p>;
  return (
    <div class="stack">
      <div class="row journal-row">
        <h2>Journal</h2>
        <button type="button" class="button small" aria-disabled={at <= 0} onClick={() => step(-1)}>
          Back
        </button>
        <button
          type="button"
          class="button small"
          onClick={() => {
            if (at >= total) onPosition(0);
            setPlaying(!isPlaying);
          }}
        >
          {isPlaying ? 'Pause' : 'Play'}
        </button>
        <button type="button" class="button small" aria-disabled={at >= total} onClick={() => step(1)}>
          Forward
        </button>
        <input
          class="grow"
          type="range"
          min={0}
          max={total}
          value={at}
          aria-label="Delivery"
          aria-valuetext={`After ${at} of ${total} deliveries`}
          onInput={(event) => onPosition(Number(event.currentTarget.value))}
        />
        <span class="num nowrap">
          {count(at)} of {count(total)}
        </span>
        {children}
      </div>
      {position === undefined ? (
        <p class="muted small">
          Each step is something that the program received. Move the slider to see the run at that point.
        </p>
      ) : at === 0 ? (
        <p class="muted">Nothing delivered yet: the program has run to its first call.</p>
      ) : (
        <Delivery runId={runId} position={at - 1} calls={calls} given={given} />
      )}
    </div>
  );
}

function Delivery({
  runId,
  position,
  calls,
  given,
}: {
  runId: string;
  position: number;
  calls: readonly RunCall[];
  given: readonly DeliveryView[] | undefined;
}) {
  const from = Math.floor(position / PAGE) * PAGE;
  const { data, error } = useResource(
    `${runId} ${given === undefined} ${from}`,
    async (signal): Promise<DeliveryPage> => {
      if (given !== undefined) return { deliveries: given, total: given.length, startedAtMs: given[0]?.atMs ?? 0 };
      return request<DeliveryPage>('deliveries', { path: { id: runId }, query: { from, limit: PAGE }, signal });
    },
  );
  const [loaded, setLoaded] = useState<{ readonly position: number; readonly body: string }>();
  const whole = loaded?.position === position ? loaded.body : undefined;
  if (error !== undefined) return <Problem error={error} />;
  const delivery = data?.deliveries.find((each) => each.position === position) ?? data?.deliveries[position - from];
  if (data === undefined || delivery === undefined) return <p class="muted">Loading the delivery</p>;
  const call = calls.find(({ number }) => number === delivery.call);
  const preview = whole ?? delivery.preview;
  const isCut = whole === undefined && (delivery.bytes ?? 0) > (delivery.preview?.length ?? 0);
  const loadWhole = async () => {
    const path = { id: runId, position: String(delivery.position) };
    const { body } = await request<{ body: string }>('delivery', { path });
    setLoaded({ position, body });
  };
  return (
    <div class="stack tight journal-step">
      <div class="row">
        <Badge tone={delivery.kind === 'error' ? 'bad' : delivery.kind === 'result' ? 'good' : 'calm'}>
          {KIND_WORDS[delivery.kind]}
        </Badge>
        {call !== undefined && (
          <span class="mono">
            {call.number} <Foreign text={call.target} limit={120} />
          </span>
        )}
        <span class="muted num">after {duration(Math.max(0, delivery.atMs - data.startedAtMs))}</span>
        {delivery.bytes !== undefined && <span class="muted num">{bytes(delivery.bytes)}</span>}
      </div>
      {preview !== undefined && (
        <section class={`block ${isCut ? 'preview' : ''}`} aria-label="Delivery" tabIndex={isCut ? undefined : 0}>
          <pre>
            <Foreign text={isCut ? `${preview}…` : preview} limit={4_000} lines />
          </pre>
        </section>
      )}
      {given === undefined && isCut && (
        <ActionButton class="small" run={loadWhole}>
          Show whole delivery
        </ActionButton>
      )}
    </div>
  );
}
