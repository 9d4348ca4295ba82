import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { count, trimmed } from '../lib/format.js';

export interface Bar {
  readonly label: string;
  /** One value per series. */
  readonly values: readonly number[];
}

const HEIGHT = 200;
const LEFT = 52;
/** Room for half of the last label. */
const RIGHT = 16;
const BOTTOM = 24;
const TOP = 8;

/** Grouped bars for each day. Drawn at the width of its container, so that its text keeps its size. */
export function BarChart({ title, series, bars }: { title: string; series: readonly string[]; bars: readonly Bar[] }) {
  const [box, width] = useWidth();
  const most = niceMaximum(Math.max(1, ...bars.flatMap(({ values }) => values)));
  const plot = { width: width - LEFT - RIGHT, height: HEIGHT - BOTTOM - TOP };
  const group = plot.width / Math.max(1, bars.length);
  const barWidth = Math.min(26, (group * 0.72) / Math.max(1, series.length));
  const y = (value: number) => TOP + plot.height - (value / most) * plot.height;
  const [hovered, setHovered] = useState<number>();
  const shown = hovered === undefined ? undefined : bars[hovered];
  const every = Math.ceil(bars.length / Math.max(2, Math.floor(plot.width / 72)));
  return (
    <figure class="chart" ref={box}>
      <figcaption class="row spread">
        <span class="row">
          {series.map((name, index) => (
            <span key={name} class="row tight small">
              <span class={`swatch hue-${HUES[index] ?? 1}`} />
              {name}
            </span>
          ))}
        </span>
        <span class="small muted num" aria-hidden="true">
          {shown === undefined
            ? ' '
            : `${dayOf(shown.label)}: ${shown.values.map((value, at) => `${count(value)} ${series[at]?.toLowerCase()}`).join(', ')}`}
        </span>
      </figcaption>
      <svg width={width} height={HEIGHT} role="img" aria-label={`${title}. ${describe(series, bars)}`}>
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line x1={LEFT} x2={width - RIGHT} y1={y(most * part)} y2={y(most * part)} class="grid" />
            <text x={LEFT - 8} y={y(most * part) + 4} class="axis" text-anchor="end">
              {short(most * part)}
            </text>
          </g>
        ))}
        {bars.map(({ label, values }, index) => {
          const left = LEFT + index * group + (group - barWidth * values.length) / 2;
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the pointer only repeats what the table says
            <g key={label} onMouseEnter={() => setHovered(index)} onMouseLeave={() => setHovered(undefined)}>
              <rect x={LEFT + index * group} y={TOP} width={group} height={plot.height} fill="transparent" />
              {values.map((value, at) => (
                <rect
                  key={at}
                  class={`bar fill-${HUES[at] ?? 1}`}
                  x={left + at * barWidth}
                  y={y(value)}
                  width={Math.max(1, barWidth - (barWidth > 5 ? 2 : 0.5))}
                  height={Math.max(value > 0 ? 1 : 0, TOP + plot.height - y(value))}
                  rx={2}
                />
              ))}
              {(bars.length - 1 - index) % every === 0 && (
                <text x={LEFT + index * group + group / 2} y={HEIGHT - 6} class="axis" text-anchor="middle">
                  {dayOf(label)}
                </text>
              )}
            </g>
          );
        })}
      </svg>
    </figure>
  );
}

/** The current width of an element. */
function useWidth() {
  const box = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(480);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setWidth(Math.max(200, element.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [box, width] as const;
}

const DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** `2026-11-18` as `Nov 18`. */
function dayOf(label: string): string {
  const at = Date.parse(label);
  return Number.isNaN(at) ? label : DAY.format(at);
}

const HUES = [1, 2, 5] as const;

function describe(series: readonly string[], bars: readonly Bar[]): string {
  return series
    .map((name, index) => `${name}: ${count(bars.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))} in all`)
    .join('; ');
}

function niceMaximum(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

function short(value: number): string {
  if (value >= 1_000_000) return `${trimmed(value / 1_000_000, 1)}M`;
  if (value >= 1_000) return `${trimmed(value / 1_000, value < 10_000 ? 1 : 0)}k`;
  return value < 10 && !Number.isInteger(value) ? value.toFixed(1) : String(Math.round(value));
}
