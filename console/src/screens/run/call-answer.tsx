import type { DeliveryPage, DeliveryView } from '../../../../src/domain/console/runs.js';
import type { JsonValue } from '../../../../src/domain/json.js';
import { request } from '../../api/request.js';
import { useResource } from '../../api/use-resource.js';
import { bytes } from '../../lib/format.js';
import { Foreign } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Problem } from '../../ui/parts.js';

/** Only the beginning of a larger answer is shown. The journal loads the rest. */
const MAX_SHOWN_BYTES = 128 * 1024;

interface Answer {
  readonly isError: boolean;
  readonly body: string;
  readonly bytes: number;
  readonly isCut: boolean;
}

/** What a call returned to the program: a value, or why it failed. */
export function CallAnswer({
  runId,
  position,
  given,
}: {
  runId: string;
  position: number;
  /** The deliveries of an opened file. */
  given: readonly DeliveryView[] | undefined;
}) {
  const { data, error } = useResource(`${runId} ${given === undefined} ${position}`, (signal) =>
    load(runId, position, given, signal),
  );
  if (error !== undefined) return <Problem error={error} />;
  if (data === undefined) return null;
  const value = data.isCut ? undefined : parsed(data.body);
  const failure = data.isError ? failureOf(value) : undefined;
  return (
    <div>
      <h3>{data.isError ? 'Error' : 'Answer'}</h3>
      {failure !== undefined ? (
        <div class="note bad" role="note">
          <p class="strong">
            <Foreign text={failure.message} limit={1_500} lines />
          </p>
          {failure.hint !== undefined && (
            <p>
              <Foreign text={failure.hint} limit={600} lines />
            </p>
          )}
        </div>
      ) : (
        <JsonTree value={value ?? data.body} label="Answer of the call" open={2} bare isCut={value === undefined} />
      )}
      {data.isCut && <p class="muted small">The beginning of {bytes(data.bytes)}. The journal below has all of it.</p>}
    </div>
  );
}

async function load(
  runId: string,
  position: number,
  given: readonly DeliveryView[] | undefined,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const path = { id: runId };
  const query = { from: position, limit: 1 };
  const delivery =
    given === undefined
      ? (await request<DeliveryPage>('deliveries', { path, query, signal })).deliveries[0]
      : given.find((each) => each.position === position);
  if (delivery?.preview === undefined) return undefined;
  const { preview, bytes: size = 0, kind } = delivery;
  const isWhole = parsed(preview) !== undefined;
  const canLoad = !isWhole && given === undefined && size <= MAX_SHOWN_BYTES;
  const body = canLoad
    ? (await request<{ body: string }>('delivery', { path: { ...path, position: String(position) }, signal })).body
    : preview;
  return { isError: kind === 'error', body, bytes: size, isCut: !isWhole && !canLoad };
}

function parsed(body: string): JsonValue | undefined {
  try {
    return JSON.parse(body) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Reads an error in the form in which the sandbox delivers it to a program. */
function failureOf(value: JsonValue | undefined): { readonly message: string; readonly hint?: string } | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { errorClass, message, hint } = value as Readonly<Record<string, JsonValue>>;
  if (typeof message !== 'string') return undefined;
  return {
    message: typeof errorClass === 'string' ? `${errorClass}: ${message}` : message,
    ...(typeof hint === 'string' ? { hint } : {}),
  };
}
