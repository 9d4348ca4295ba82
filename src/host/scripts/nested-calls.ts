import type { RunContext } from '../../broker/run-context.js';
import type { CallReply, GuestCall } from '../../domain/run.js';
import type { ScriptProfile } from '../../domain/script.js';
import type { CallAnswerer, RunCallDelegate } from '../runs/run.js';

/** The program that asks: the run's own at depth 0, or that of a stored script. */
export interface Asker {
  readonly context: RunContext;
  readonly depth: number;
  /** Added to its call numbers: an approval of one call of the run must not match another. */
  readonly firstNumber: number;
  /** The contract that the program is written for. Absent: the run's own program, under a contract that no script has. */
  readonly contract?: ScriptProfile | undefined;
}

/** Answers the requests of any program of the run: its own, or that of a stored script. */
export interface ProgramAnswerer {
  answerFor(asker: Asker, call: GuestCall, delegate: RunCallDelegate): Promise<CallReply>;
}

/** The calls of one stored script's program: calls of the run, on behalf of the script. */
export class NestedCalls implements CallAnswerer {
  readonly #calls: ProgramAnswerer;
  /** Called when a call is made, and again with its reply. */
  readonly #onCall: (call: GuestCall, reply?: CallReply) => void;
  readonly #name: string;
  readonly #asker: Asker;
  readonly #outer: RunCallDelegate;

  constructor(
    calls: ProgramAnswerer,
    onCall: (call: GuestCall, reply?: CallReply) => void,
    name: string,
    asker: Asker,
    outer: RunCallDelegate,
  ) {
    this.#calls = calls;
    this.#onCall = onCall;
    this.#name = name;
    this.#asker = asker;
    this.#outer = outer;
  }

  async answer(call: GuestCall, delegate: RunCallDelegate): Promise<CallReply> {
    this.#onCall(call);
    const onSending = async () => {
      // From here on the script, and so the call that runs it, may have taken effect.
      await this.#outer.onSending();
      await delegate.onSending();
    };
    const reply = await this.#calls.answerFor(this.#asker, call, { ...delegate, onSending });
    this.#onCall(call, reply);
    return whereToWait(this.#name, reply);
  }
}

/** A run cannot be suspended inside a nested script. A directly run script can. */
function whereToWait(name: string, reply: CallReply): CallReply {
  if (reply.ok || 'ends' in reply || reply.error.fields?.approvalState !== 'PENDING') return reply;
  const hint = `Ask the user to run the script by itself, where it can wait for a decision: codemode scripts run ${name}`;
  return { ok: false, error: { ...reply.error, hint } };
}
