import type { JsonValue } from '../../../../src/domain/json.js';
import type { LogEntry } from '../../../../src/domain/run.js';
import { duration } from '../../lib/format.js';
import { Foreign } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';

const MAX_TREE_CHARACTERS = 200_000;
const MAX_ENTRIES = 1_000;

/** What the program logged; JSON as a tree. */
export function Logs({ logs }: { logs: readonly LogEntry[] }) {
  if (logs.length === 0) return <p class="muted">The program logged nothing.</p>;
  return (
    <ol class="logs">
      {logs.slice(0, MAX_ENTRIES).map(({ level, message, timeMs }, index) => {
        const tree = readTree(message);
        return (
          <li key={index} class={`log ${level}`}>
            <span class="num muted">{duration(timeMs)}</span>
            <span class="log-level">{level}</span>
            {tree === undefined ? (
              <pre>
                <Foreign text={message} limit={2_000} lines />
              </pre>
            ) : (
              <JsonTree value={tree} label="Logged value" open={1} />
            )}
          </li>
        );
      })}
      {logs.length > MAX_ENTRIES && <li class="muted">The first {MAX_ENTRIES} lines are shown.</li>}
    </ol>
  );
}

function readTree(message: string): JsonValue | undefined {
  if (!/^\s*[[{]/.test(message) || message.length > MAX_TREE_CHARACTERS) return undefined;
  try {
    return JSON.parse(message) as JsonValue;
  } catch {
    return undefined;
  }
}
