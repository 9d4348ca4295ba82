import {
  type EndedAnswer,
  isEnded,
  type RunAnswer,
  type RunRequest,
  type RunSummary,
} from '../../host/runs/run-types.js';
import type { Session } from '../../host/session.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';

const FACTOR = 2;

/**
 * Runs a program, and retries once with twice the timeout if it timed out. Never if it has called a tool that is unsafe to repeat:
 * nothing is paid twice because a loop was slow.
 */
export async function runWithRecovery(session: Session, request: RunRequest, maxTimeoutMs: number): Promise<RunAnswer> {
  const startedAt = performance.now();
  const answer = await session.run(request);
  const { timeoutMs } = request.limits;
  const longerMs = Math.min(timeoutMs * FACTOR, maxTimeoutMs);
  if (!isOutOfTime(answer) || !answer.summary.isRepeatable || longerMs <= timeoutMs) return answer;
  if (request.signal?.aborted === true) return answer;
  const { answerWithinMs } = request;
  const leftMs = answerWithinMs === undefined ? undefined : answerWithinMs - (performance.now() - startedAt);
  const again = await session.run({
    ...request,
    limits: { ...request.limits, timeoutMs: longerMs },
    ...omitUndefined({ answerWithinMs: ifDefined(leftMs, (leftMs) => Math.max(0, leftMs)) }),
  });
  return isEnded(again) ? { ...again, summary: inAll(answer.summary, again.summary, timeoutMs, longerMs) } : again;
}

function isOutOfTime(answer: RunAnswer): answer is EndedAnswer {
  if (!isEnded(answer)) return false;
  const { outcome } = answer.summary;
  return outcome.status === 'failed' && outcome.failure.limit === 'timeout';
}

/** The usage and logs of the client's one request, over both runs. */
function inAll(first: RunSummary, second: RunSummary, timeoutMs: number, longerMs: number): RunSummary {
  return {
    ...second,
    warnings: [...second.warnings, `timed out after ${timeoutMs}ms, and was run again with ${longerMs}ms`],
    durationMs: first.durationMs + second.durationMs,
    usage: {
      cpuMs: first.usage.cpuMs + second.usage.cpuMs,
      memoryBytes: Math.max(first.usage.memoryBytes, second.usage.memoryBytes),
    },
    callCount: first.callCount + second.callCount,
  };
}
