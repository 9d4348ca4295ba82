import type { Redactor } from '../../broker/redaction/redactor.js';
import type { CallerId, CallReply, GuestCall, Outcome } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { ProgramRunner } from '../runs/program-runner.js';
import { redactRunOutcome } from '../runs/redact-report.js';
import type { ProcessRecording } from './process-recording.js';
import type { AnsweredCall } from './recorded-call.js';
import { differenceOf, type ReplayReport } from './replay.js';

/**
 * Replays a recorded program in its language, offline. Random numbers and the order of sets start as they did then. Clock and
 * threads are real, so the program may take another path. A request that was not recorded, or another interpreter version, is
 * reported.
 */
export async function replayProcess(
  runner: ProgramRunner,
  { runId, program, calls, outcome, environment }: ProcessRecording,
  redactor?: Redactor,
): Promise<ReplayReport> {
  // The type checker of the host refused it before it started, so there is nothing to compare.
  if (program.language === 'node' && outcome.status === 'failed' && outcome.failure.kind === 'type')
    return { runId, isSame: true, outcome };
  const record = new AnswersOnRecord(calls);
  const report = await runner.run(
    { ...program, files: new Map(program.files) },
    { caller: `replay of ${runId}` as CallerId, onCall: async (call) => record.answer(call) },
  );
  // The record is redacted, including personal data if configured then. The replayed output must be redacted before it is compared.
  const cleaner = redactor?.forOutput({ personalData: true });
  const clean = async (each: Outcome) => (cleaner === undefined ? each : redactRunOutcome(cleaner, each, {}));
  const [then, again] = [await clean(outcome), await clean(report.outcome)];
  const found = record.divergence ?? differenceOf(then, again) ?? record.leftOver;
  const { interpreter = runner.version } = environment;
  const isOther = interpreter !== runner.version;
  const versions = `it was recorded with ${program.language} ${interpreter}, and this is ${runner.version}`;
  const difference = found === undefined || !isOther ? found : `${found}; ${versions}`;
  return {
    runId,
    isSame: difference === undefined,
    ...omitUndefined({ difference }),
    outcome: again,
  };
}

/** Concurrent calls arrive in any order: each takes the first remaining answer to the same request. */
class AnswersOnRecord {
  readonly #left: AnsweredCall[];
  /** The first request that is not on record. */
  divergence: string | undefined;

  constructor(calls: readonly AnsweredCall[]) {
    this.#left = [...calls];
  }

  get leftOver(): string | undefined {
    const [first] = this.#left;
    return first === undefined ? undefined : `it did not ask for call ${first.number} (${first.target}) this time`;
  }

  answer({ number, target, argumentsJson }: GuestCall): Promise<CallReply> | CallReply {
    const at = this.#left.findIndex((call) => call.target === target && call.argumentsJson === argumentsJson);
    const [found] = at < 0 ? [] : this.#left.splice(at, 1);
    if (found !== undefined) return found.reply ?? new Promise<never>(() => {});
    const sameTool = this.#left.some((call) => call.target === target);
    const what = sameTool ? `${target} with other arguments` : target;
    this.divergence ??= `its call ${number} asks for ${what}, which is not on record`;
    return {
      ok: false,
      error: {
        errorClass: 'NotOnRecord',
        message: `this is a replay, and the recorded run did not call ${what}`,
        hint: 'Start a new run to call tools.',
      },
    };
  }
}
