import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { JsonValue } from '../../../src/domain/json.js';
import { counted } from '../lib/format.js';
import { Foreign, foreignLabel } from './foreign.js';

const PAGE = 50;
const STRING_LIMIT = 600;
/** Rows shown initially, if possible. The rest opens by a click. */
const FIRST_ROWS = 40;

/** A value as a collapsible tree. Collapsed parts are not in the document. */
export function JsonTree({
  value,
  open = 2,
  label,
  bare = false,
  isCut = false,
}: {
  value: JsonValue;
  open?: number;
  label: string;
  /** Shows the fields without the enclosing value. */
  bare?: boolean;
  /** The value is the beginning of its JSON, as a string. */
  isCut?: boolean;
}) {
  if (isCut && typeof value === 'string') {
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
      <section class="block" aria-label={label} tabIndex={0}>
        <pre>
          <Foreign text={value} limit={4_000} lines />
        </pre>
      </section>
    );
  }
  const depth = depthThatFits(value, open);
  const isBare = bare && typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is not part of a form
    <div class="tree" role="group" aria-label={label}>
      {isBare ? <Entries value={value} depth={0} open={depth} /> : <Node value={value} depth={0} open={depth} />}
    </div>
  );
}

/** How many levels start open: at most `most`, and at least the first, so that something is visible. */
function depthThatFits(value: JsonValue, most: number): number {
  let level: readonly JsonValue[] = [value];
  let rows = 0;
  for (let depth = 0; depth < most; depth += 1) {
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? Object.values(each).slice(0, FIRST_ROWS + 1) : [],
    );
    rows += level.length;
    if (rows > FIRST_ROWS) return Math.max(Math.min(most, 1), depth);
  }
  return most;
}

function Node({ name, value, depth, open }: { name?: string; value: JsonValue; depth: number; open: number }) {
  const [isOpen, setOpen] = useState(depth < open);
  const key =
    name === undefined ? null : (
      <>
        <span class="key">
          <Foreign text={name} limit={200} />
        </span>
        {': '}
      </>
    );
  if (value === null || typeof value !== 'object') {
    return (
      <>
        {key}
        <Leaf value={value} />
      </>
    );
  }
  const isList = Array.isArray(value);
  const size = isList ? value.length : Object.keys(value).length;
  if (size === 0) {
    return (
      <>
        {key}
        <span class="muted">{isList ? '[]' : '{}'}</span>
      </>
    );
  }
  const summary = isList ? `[${counted(size, 'item')}]` : `{${counted(size, 'field')}}`;
  return (
    <>
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span aria-hidden="true">{isOpen ? '▾' : '▸'} </span>
        {key}
        <span class="muted">{isOpen ? summary : `${summary} ${previewOf(value)}`}</span>
      </button>
      {isOpen && <Entries value={value} depth={depth} open={open} />}
    </>
  );
}

/** A preview of the content, so that nobody has to open twenty nodes to find one. */
function previewOf(value: JsonValue & object): string {
  const isList = Array.isArray(value);
  const parts: string[] = [];
  for (const [name, each] of Object.entries(value).slice(0, PREVIEW_FIELDS)) {
    if (typeof each === 'object' && each !== null) continue;
    const text = foreignLabel(typeof each === 'string' ? each : String(each), PREVIEW_CHARACTERS);
    parts.push(isList ? text : `${foreignLabel(name, 20)}: ${text}`);
  }
  return foreignLabel(parts.join(', '), PREVIEW_CHARACTERS * 2);
}

const PREVIEW_FIELDS = 4;
const PREVIEW_CHARACTERS = 40;

function Entries({ value, depth, open }: { value: JsonValue & object; depth: number; open: number }) {
  const [shown, setShown] = useState(PAGE);
  const size = Array.isArray(value) ? value.length : Object.keys(value).length;
  return (
    <ul>
      {entriesOf(value, shown).map(([each, child]) => (
        <li key={each}>
          <Node name={each} value={child} depth={depth + 1} open={open} />
        </li>
      ))}
      {size > shown && (
        <li>
          <button type="button" class="more" onClick={() => setShown(shown + PAGE * 5)}>
            Show more ({counted(size - shown, 'entry', 'entries')} left)
          </button>
        </li>
      )}
    </ul>
  );
}

function entriesOf(value: JsonValue & object, most: number): readonly (readonly [string, JsonValue])[] {
  if (Array.isArray(value)) return value.slice(0, most).map((each, index) => [String(index), each] as const);
  return Object.entries(value as Record<string, JsonValue>).slice(0, most);
}

function Leaf({ value }: { value: null | string | number | boolean }): ComponentChildren {
  if (typeof value === 'string') {
    return (
      <span class="string">
        "<Foreign text={value} limit={STRING_LIMIT} lines />"
      </span>
    );
  }
  return <span class={typeof value === 'number' ? 'number' : 'word'}>{String(value)}</span>;
}
