import type { HookDecision, HookTarget } from '../../domain/hook.js';
import { readDecision } from './read-decision.js';

const MAX_ANSWER_BYTES = 64 * 1024;

type HttpTarget = Extract<HookTarget, { kind: 'http' }>;

/** Posts `event`. Throws if there is no usable answer. A redirect is not followed: the event goes only to the user's URL. */
export async function runHttpHook(
  { url, headers }: HttpTarget,
  event: string,
  signal: AbortSignal,
): Promise<HookDecision> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: event,
    redirect: 'error',
    signal,
  }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new Error(`it could not be reached: ${reasonOf(error)}`, { cause: error });
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`it answered with status ${response.status}`);
  }
  return readDecision(await readBounded(response));
}

/** What `fetch` says is always "fetch failed"; its cause knows more. */
function reasonOf(error: unknown): string {
  const { cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : String((error as Error).message);
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`it sent more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
