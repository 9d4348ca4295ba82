import { randomUUID } from 'node:crypto';
import { HostError } from '../domain/errors.js';
import type { CallerId, ExecutionId, GuestCall, Program } from '../domain/execution.js';
import type { JsonObject } from '../domain/json.js';
import { MAX_SOURCE_BYTES } from '../domain/limits.js';
import type { StopSignal } from '../domain/stop-signal.js';
import { type SealBinding, seal, unseal } from '../lib/sealed.js';
import { MAX_VALUE_BYTES } from '../wire/messages.js';
import { SandboxExecution } from './execution.js';
import type { CarriedOver, ExecutionHandlers, ExecutionReport } from './execution-report.js';
import type { Jail } from './jail/jail.js';
import type { Delivery, Journal } from './journal.js';
import { decodeJournal, digestOf, encodeJournal, newSeed, openJournal } from './journal.js';
import type { PoolOptions } from './pool.js';
import { Pool } from './pool.js';
import { loadRuntimeFiles } from './runtime-files.js';
import { WorkerProcess } from './worker-process.js';

export interface SandboxOptions {
  readonly jail: Jail;
  /** Folder of the built worker. */
  readonly workerFolder: string;
  readonly pool: PoolOptions;
  /** Key under which suspended programs are sealed. */
  readonly sealKey: Uint8Array;
}

export interface StartOptions {
  readonly caller: CallerId;
  readonly program: Program;
  readonly execution?: ExecutionId;
  /** Cancels the program, wherever it is by then: waiting for a worker, or running. */
  readonly signal?: StopSignal;
}

/** A program that sleeps outside any process. */
export interface SuspendedProgram {
  readonly execution: ExecutionId;
  readonly codeDigest: string;
  readonly sealed: Buffer;
  readonly openCalls: readonly GuestCall[];
}

/** A program that has a worker. Whether its source can be read at all is in its report, before any call is made. */
export interface Started {
  readonly execution: SandboxExecution;
  readonly report: Promise<ExecutionReport>;
}

/** Runs programs behind the wall. Knows nothing of tools, policies or profiles: calls go to whoever started the program. */
export class Sandbox {
  readonly jail: Jail;
  readonly build: string;
  readonly pool: Pool;
  readonly #sealKey: Uint8Array;

  constructor(options: SandboxOptions) {
    const files = loadRuntimeFiles(options.workerFolder);
    this.jail = options.jail;
    this.build = files.build;
    this.#sealKey = options.sealKey;
    this.pool = new Pool(options.pool, () => WorkerProcess.start('quickjs', options.jail, files));
  }

  /** Starts a program. Resolves as soon as it has a worker; its end is in `report`. */
  async start({ caller, program, execution, signal }: StartOptions, handlers: ExecutionHandlers): Promise<Started> {
    if (Buffer.byteLength(program.source) > MAX_SOURCE_BYTES)
      throw new HostError(
        'bad_input',
        `the program is larger than ${MAX_SOURCE_BYTES} bytes; pass data through tools, not through source`,
      );
    const given = program.script?.input ?? program.body?.context;
    if (given !== undefined) mustBeSmall(given);
    const id = execution ?? (randomUUID() as ExecutionId);
    const journal = openJournal(id, program, newSeed(), Date.now());
    const started = new SandboxExecution(this.pool, caller, journal, handlers);
    return begun(started, signal, () => started.begin());
  }

  /** Puts a waiting program away. The bytes hold everything: its memory, its journal, its open calls. */
  async suspend(execution: SandboxExecution): Promise<SuspendedProgram> {
    const image = await execution.suspend();
    const codeDigest = digestOf(execution.journal.source);
    const openCalls = execution.openCalls;
    const head = Buffer.from(
      JSON.stringify({
        build: this.build,
        journal: encodeJournal(execution.journal),
        remainingMs: execution.remainingMs,
        carried: execution.carriedOver,
      } satisfies SuspendedHead),
    );
    const length = Buffer.alloc(4);
    length.writeUInt32LE(head.length);
    const sealed = seal(
      this.#sealKey,
      bindingOf(execution.id, execution.caller, codeDigest),
      Buffer.concat([length, head, image]),
    );
    return { execution: execution.id, codeDigest, sealed, openCalls };
  }

  /**
   * Wakes a suspended program, in any worker. Its open calls are answered through `execution.answer`. The signal cancels
   * it as it does in `start`; the suspended program itself is not changed by that and can be resumed again.
   */
  async resume(
    suspended: Pick<SuspendedProgram, 'execution' | 'codeDigest' | 'sealed'>,
    caller: CallerId,
    handlers: ExecutionHandlers,
    since?: SinceSuspended,
    signal?: StopSignal,
  ): Promise<Started> {
    const binding = bindingOf(suspended.execution, caller, suspended.codeDigest);
    const plain = unseal(this.#sealKey, binding, suspended.sealed);
    if (plain === undefined) {
      throw new HostError(
        'image_rejected',
        'this suspended program was changed, belongs to another run, or was made under another key; start the run again',
      );
    }
    const headBytes = plain.readUInt32LE(0);
    const head = JSON.parse(plain.toString('utf8', 4, 4 + headBytes)) as SuspendedHead;
    const journal = decodeJournal(head.journal);
    const inImage = journal.deliveries.length;
    const carried = since === undefined ? head.carried : addSince(journal, head.carried, since);
    const resumed = new SandboxExecution(this.pool, caller, journal, handlers, head.remainingMs);
    return begun(resumed, signal, () =>
      head.build === this.build
        ? resumed.beginFromImage(plain.subarray(4 + headBytes), carried, inImage)
        : resumed.beginFromJournal(carried),
    );
  }

  /**
   * Runs a recorded program again, offline: everything it asks for is answered from its journal. Says where it asked for
   * something else, if it did.
   */
  async replay(
    recorded: Journal,
    caller: CallerId,
  ): Promise<{ report: ExecutionReport; divergence: string | undefined }> {
    const journal: Journal = {
      ...recorded,
      execution: randomUUID() as ExecutionId,
      deliveries: [...recorded.deliveries],
      calls: [],
    };
    let divergence: string | undefined;
    const execution: SandboxExecution = new SandboxExecution(this.pool, caller, journal, {
      // Answers come from the journal, in its order; a question is only compared.
      onCall: (call) => {
        const known = recorded.calls[call.number - 1];
        if (
          known === undefined ||
          known.target !== call.target ||
          known.argumentsDigest !== digestOf(call.argumentsJson)
        ) {
          divergence ??= `call ${call.number} asked for ${call.target}, the record has ${known?.target ?? 'no such call'}${known?.target === call.target ? ' with other arguments' : ''}`;
          execution.cancel();
        }
        const end = recorded.endedBy;
        if (end?.call === call.number) return Promise.resolve({ ok: false, ends: end.failure });
        return new Promise(() => {});
      },
    });
    await execution.begin();
    return { report: await execution.report, divergence };
  }

  async close(): Promise<void> {
    await this.pool.close();
  }
}

function mustBeSmall(input: JsonObject): void {
  if (Buffer.byteLength(JSON.stringify(input)) > MAX_VALUE_BYTES)
    throw new HostError(
      'bad_input',
      `the input is larger than ${MAX_VALUE_BYTES} bytes of JSON; send less, or let tools read it`,
    );
}

interface SuspendedHead {
  readonly build: string;
  readonly journal: string;
  readonly remainingMs: number;
  readonly carried: CarriedOver;
}

/**
 * What reached a program after it was suspended, in a process that resumed it and did not live to suspend it again. The
 * program goes through it once more, and asks for nothing a second time.
 */
export interface SinceSuspended {
  readonly deliveries: readonly Delivery[];
  readonly calls: readonly GuestCall[];
}

function addSince(journal: Journal, carried: CarriedOver, { deliveries, calls }: SinceSuspended): CarriedOver {
  const known = journal.calls.length;
  journal.deliveries.push(...deliveries);
  // A call that was open when it slept is written down again when it is made anew.
  const fresh = calls.filter(({ number }) => number > known);
  for (const { target, argumentsJson } of fresh)
    journal.calls.push({ target, argumentsDigest: digestOf(argumentsJson) });
  const answered = new Set(deliveries.flatMap((each) => ('call' in each ? [each.call] : [])));
  const openCalls = [...carried.openCalls, ...fresh].filter(({ number }) => !answered.has(number));
  return { ...carried, openCalls };
}

/** A suspended program is trusted when it comes back: it opens for its own run, caller and code only. */
function bindingOf(execution: ExecutionId, caller: CallerId, codeDigest: string): SealBinding {
  return { purpose: 'suspended program', owner: [execution, caller, codeDigest] };
}

async function begun(
  execution: SandboxExecution,
  signal: StopSignal | undefined,
  begin: () => Promise<void>,
): Promise<Started> {
  const { report } = execution;
  if (signal?.aborted === true) {
    execution.cancel();
    return { execution, report };
  }
  const cancel = () => execution.cancel();
  signal?.addEventListener('abort', cancel);
  const forget = () => signal?.removeEventListener('abort', cancel);
  try {
    await begin();
  } catch (error) {
    forget();
    throw error;
  }
  void report.then(forget);
  return { execution, report };
}
