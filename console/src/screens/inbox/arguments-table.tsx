import type { ApprovalView } from '../../../../src/domain/console/approvals.js';
import type { JsonValue } from '../../../../src/domain/json.js';
import { Foreign } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';

/** The arguments of a loop's calls: equal values once, differing ones as a table. Rows can be left out. */
export function ArgumentsTable({
  calls,
  leftOut,
  onToggle,
}: {
  calls: readonly ApprovalView[];
  leftOut: ReadonlySet<string>;
  /** Absent if the calls were decided. */
  onToggle: ((id: string) => void) | undefined;
}) {
  const { same, columns } = compare(calls);
  return (
    <div class="stack tight">
      {Object.keys(same).length > 0 && (
        <div>
          <h3>Same in all calls</h3>
          <JsonTree value={same} label="Arguments that are the same in all calls" open={1} bare />
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <section class="table-wrap arguments" aria-label="Arguments of each call" tabIndex={0}>
        <table class="table">
          <thead>
            <tr>
              {onToggle !== undefined && (
                <th scope="col" class="fit">
                  Include
                </th>
              )}
              <th scope="col" class="fit">
                Call
              </th>
              {columns.map((column) => (
                <th scope="col" key={column}>
                  <Foreign text={column} limit={80} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {calls.map((call) => (
              <tr key={call.id} class={leftOut.has(call.id) ? 'out' : ''}>
                {onToggle !== undefined && (
                  <td class="fit">
                    <input
                      type="checkbox"
                      aria-label={`Include call ${call.call}`}
                      checked={!leftOut.has(call.id)}
                      onChange={() => onToggle(call.id)}
                    />
                  </td>
                )}
                <td class="num fit">{call.call}</td>
                {columns.map((column) => (
                  <td key={column}>
                    <Cell value={valueAt(call.arguments, column)} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

function Cell({ value }: { value: JsonValue | undefined }) {
  if (value === undefined) return <span class="muted">not given</span>;
  if (typeof value === 'string') return <Foreign text={value} limit={240} lines />;
  if (value === null || typeof value !== 'object') return <code>{String(value)}</code>;
  return <JsonTree value={value} label="Argument" open={0} />;
}

/** The column for the whole value, if the arguments are not objects. */
const WHOLE = 'arguments';

function valueAt(value: JsonValue, column: string): JsonValue | undefined {
  return isObject(value) ? value[column] : column === WHOLE ? value : undefined;
}

/** Sorts fields into those that are equal in all calls, and columns. */
export function compare(calls: readonly Pick<ApprovalView, 'arguments'>[]): {
  readonly same: Record<string, JsonValue>;
  readonly columns: readonly string[];
} {
  if (!calls.every(({ arguments: given }) => isObject(given))) return { same: {}, columns: [WHOLE] };
  const names = new Set(calls.flatMap(({ arguments: given }) => Object.keys(given as object)));
  const same: Record<string, JsonValue> = Object.create(null);
  const columns: string[] = [];
  for (const name of names) {
    const texts = new Set(calls.map(({ arguments: given }) => JSON.stringify(valueAt(given, name))));
    const [value] = calls.map(({ arguments: given }) => valueAt(given, name));
    if (texts.size === 1 && value !== undefined) same[name] = value;
    else columns.push(name);
  }
  return { same, columns };
}

function isObject(value: JsonValue): value is { readonly [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
