import { createHash, randomUUID } from 'node:crypto';
import type { ApprovalState } from '../../domain/approval.js';
import type { JsonValue } from '../../domain/json.js';
import type { ProcessLanguage } from '../../domain/process-program.js';
import { VERSION } from '../../domain/version.js';
import type { ProcessRunSummary } from '../../host/process-run.js';
import { asciiJson } from '../../lib/ascii-json.js';
import { failed, type RunnerError, resultError } from './errors.js';

/** What the runner says of one program, on one line. */
export interface Envelope {
  readonly run_id: string;
  readonly trace_id: string;
  readonly tool_name: string;
  readonly tool_version: string;
  /** Null where not all of the source was read. */
  readonly input_digest: string | null;
  readonly output_digest: string;
  /** Null where no program was started. */
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

interface Said {
  readonly state: ApprovalState;
  readonly image: string | null;
}

/** One program, from before anything is known of it: whatever comes, there is one envelope about it. */
export class Ticket {
  readonly runId = randomUUID();
  readonly traceId: string;
  readonly #startedAt = performance.now();
  readonly #toolName: string;
  /** Digest of the source as it came. */
  inputDigest: string | null = null;

  /** `traceId`: of the trace that it is a part of. */
  constructor(language: ProcessLanguage | undefined, traceId = randomUUID().replaceAll('-', '')) {
    this.traceId = traceId;
    this.#toolName = language === undefined ? 'runner' : `${language}-runner`;
  }

  /** Of a program that was run. `maxLineBytes`: what does not fit into one line is not handed over in part. */
  ended(summary: ProcessRunSummary, maxLineBytes: number): Envelope {
    const { outcome, durationMs, approvalState, image } = summary;
    const metrics = { duration_ms: Math.round(durationMs) };
    const said = { state: approvalState, image };
    if (outcome.status === 'failed')
      return this.#envelope({ ok: false, error: resultError(outcome.failure), metrics }, said);
    const jsonBytes = Buffer.byteLength(outcome.resultJson);
    const whole = jsonBytes <= maxLineBytes ? this.#whole(outcome.resultJson, metrics, said) : undefined;
    if (whole !== undefined && 'error' in whole)
      return this.#envelope({ ok: false, error: whole.error, metrics }, said);
    const bytes = whole === undefined ? jsonBytes : Buffer.byteLength(lineOf(whole));
    if (whole !== undefined && bytes <= maxLineBytes) return whole;
    const message = `the result has ${jsonBytes} bytes of JSON, and the whole answer may have ${maxLineBytes}. Filter or summarise before setting the result.`;
    return this.#envelope({ ok: false, error: failed('OutputTooLarge', message), metrics }, said);
  }

  #whole(resultJson: string, metrics: Metrics, said: Said): Envelope | { readonly error: RunnerError } {
    try {
      const envelope = this.#envelope({ ok: true, data: JSON.parse(resultJson) as JsonValue, metrics }, said);
      lineOf(envelope);
      return envelope;
    } catch {
      return { error: failed('NotSerializable', 'the result is nested more deeply than it can be written') };
    }
  }

  /** Of a program that never was: refused, or the host could not do its work. */
  refused(error: RunnerError): Envelope {
    const metrics = { duration_ms: Math.round(performance.now() - this.#startedAt) };
    return this.#envelope({ ok: false, error, metrics }, { state: 'NOT_REQUIRED', image: null });
  }

  #envelope(result: RunnerResult, { state, image }: Said): Envelope {
    return {
      run_id: this.runId,
      trace_id: this.traceId,
      tool_name: this.#toolName,
      tool_version: VERSION,
      input_digest: this.inputDigest,
      output_digest: digestOf(asciiJson(result)),
      sandbox_image: image,
      duration_ms: result.metrics.duration_ms,
      approval_state: state,
      result,
    };
  }
}

/** `sha256:` and the hexadecimal digest of a text as UTF-8, or of bytes. */
export function digestOf(source: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(source).digest('hex')}`;
}

/** The one line, without its end. In JSON no line ends. */
export function lineOf(envelope: Envelope): string {
  return JSON.stringify(envelope);
}

const TRUNCATED = '<TRUNCATED>\n';

/** What is passed on of what a program printed: at most so many bytes, and a last line that says where it was cut. */
export function printedBy({ stdout, stderr }: ProcessRunSummary, maxBytes: number): string {
  const all = [stdout.text, stderr.text]
    .map((text) => (text === '' || text.endsWith('\n') ? text : `${text}\n`))
    .join('');
  const bytes = Buffer.from(all);
  const isCut = stdout.isCut || stderr.isCut || bytes.length > maxBytes;
  if (!isCut) return all;
  // A character that the limit cuts is left out.
  const kept = new TextDecoder().decode(bytes.subarray(0, Math.max(0, maxBytes - TRUNCATED.length - 1)), {
    stream: true,
  });
  return `${kept === '' || kept.endsWith('\n') ? kept : `${kept}\n`}${TRUNCATED}`;
}
