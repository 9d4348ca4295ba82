import { createHash, randomUUID } from 'node:crypto';
import type { ApprovalState } from '../../domain/approval.js';
import type { JsonValue } from '../../domain/json.js';
import type { ProcessLanguage } from '../../domain/process-program.js';
import { VERSION } from '../../domain/version.js';
import type { ProcessRunSummary } from '../../host/processes/process-run.js';
import { asciiJson } from '../../lib/text/ascii-json.js';
import { roundedNumber, withMarkedNumbers, withNumbers } from '../../lib/text/exact-numbers.js';
import { failed, type RunnerError, resultError } from './errors.js';

/** The runner's report about one program, on one line. */
export interface Envelope {
  readonly run_id: string;
  readonly trace_id: string;
  readonly tool_name: string;
  readonly tool_version: string;
  /** Digest of the source as received; of the empty text if nothing was read. */
  readonly input_digest: string;
  readonly output_digest: string;
  /** Null if no program was started. */
  readonly sandbox_image: string | null;
  readonly duration_ms: number;
  readonly approval_state: ApprovalState;
  readonly result: RunnerResult;
}

export type RunnerResult =
  | { readonly ok: true; readonly data: JsonValue; readonly metrics: Metrics }
  | { readonly ok: false; readonly error: RunnerError; readonly metrics: Metrics };

interface Metrics {
  readonly duration_ms: number;
}

/** One response, as a value and as text. Each form carries the digest of its own content. */
export interface Answer {
  readonly envelope: Envelope;
  /** The line without its newline. Integers of any length are as the program wrote them. */
  readonly line: string;
  /** The first number that is rounded in the envelope. */
  readonly rounded?: string | undefined;
}

interface Said {
  readonly state: ApprovalState;
  readonly image: string | null;
}

/** One program, from before anything is known about it. Whatever happens, it produces one envelope. */
export class Ticket {
  readonly runId = randomUUID();
  readonly createdAtMs = Date.now();
  readonly traceId: string;
  readonly #startedAt = performance.now();
  readonly #toolName: string;
  /** Digest of the source, as much of it as was read. */
  inputDigest = digestOf('');

  /** `traceId`: the trace that it belongs to. */
  constructor(language: ProcessLanguage | undefined, traceId = randomUUID().replaceAll('-', '')) {
    this.traceId = traceId;
    this.#toolName = language === undefined ? 'runner' : `${language}-runner`;
  }

  /** The answer of a program that was run. `maxLineBytes`: data that does not fit into one line is never passed on in part. */
  ended(summary: ProcessRunSummary, maxLineBytes: number): Answer {
    const { outcome, durationMs, approvalState, image } = summary;
    const metrics = { duration_ms: Math.round(durationMs) };
    const said = { state: approvalState, image };
    const fail = (error: RunnerError) => this.#answer({ ok: false, error, metrics }, said);
    if (outcome.status === 'failed') return fail(resultError(outcome.failure));
    try {
      // The printed size counts: Python escapes characters that the line contains unescaped.
      const data = JSON.parse(outcome.resultJson) as JsonValue;
      const dataBytes = Buffer.byteLength(JSON.stringify(data));
      if (dataBytes > maxLineBytes) return fail(tooLarge(dataBytes, maxLineBytes));
      const whole = this.#answer({ ok: true, data, metrics }, said, outcome.resultJson);
      const lineBytes = Buffer.byteLength(whole.line) + 1;
      return lineBytes <= maxLineBytes ? whole : fail(tooLarge(lineBytes, maxLineBytes));
    } catch {
      return fail(failed('NotSerializable', 'the result is nested more deeply than it can be written'));
    }
  }

  /** The answer for a program that never ran: it was refused, or the host failed. */
  refused(error: RunnerError): Answer {
    const metrics = { duration_ms: Math.round(performance.now() - this.#startedAt) };
    return this.#answer({ ok: false, error, metrics }, { state: 'NOT_REQUIRED', image: null });
  }

  /** `dataJson`: the data as the program wrote it, with integers that JavaScript would round. */
  #answer(result: RunnerResult, said: Said, dataJson = ''): Answer {
    const envelope = this.#envelope(result, said, digestOf(asciiJson(result)));
    const markedJson = withMarkedNumbers(dataJson);
    if (markedJson === dataJson) return { envelope, line: JSON.stringify(envelope) };
    const exact = { ...result, data: JSON.parse(markedJson) as JsonValue } as RunnerResult;
    const digest = digestOf(withNumbers(asciiJson(exact)));
    const line = withNumbers(JSON.stringify(this.#envelope(exact, said, digest)));
    return { envelope, line, rounded: roundedNumber(dataJson) };
  }

  #envelope(result: RunnerResult, { state, image }: Said, outputDigest: string): Envelope {
    return {
      run_id: this.runId,
      trace_id: this.traceId,
      tool_name: this.#toolName,
      tool_version: VERSION,
      input_digest: this.inputDigest,
      output_digest: outputDigest,
      sandbox_image: image,
      duration_ms: result.metrics.duration_ms,
      approval_state: state,
      result,
    };
  }
}

function tooLarge(bytes: number, mostBytes: number): RunnerError {
  const message = `the answer would have ${bytes} bytes, and the most is ${mostBytes}. Filter or summarise before setting the result, or raise runner.stdout in the configuration.`;
  return failed('OutputTooLarge', message);
}

/** `sha256:` and the hexadecimal digest of a text as UTF-8, or of bytes. */
export function digestOf(source: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(source).digest('hex')}`;
}
