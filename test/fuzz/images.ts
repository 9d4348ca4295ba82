import { HostError } from '../../src/domain/errors.js';
import { seal, unseal } from '../../src/lib/secrets/sealed.js';
import type { SuspendedProgram } from '../../src/sandbox/sandbox.js';
import type { SandboxRun } from '../../src/sandbox/sandbox-run.js';
import { CALLER, openSandbox, type TestSandbox } from '../support/sandbox.js';
import { expectKnown, type Fuzzer } from './fuzzer.js';

const KEY = new Uint8Array(32).fill(7);
const MAX_WAIT_MS = 20_000;
const SOURCE = `import { ask } from '@codemode/servers/test';
const kept = new Map([['a', [1, 2, 3]]]);
const answer = await ask({});
globalThis.__codemode_result__ = [answer, kept.get('a')];`;

/**
 * Suspended programs that somebody changed: as they lie in the store, sealed, they are all refused. Their image comes out of
 * a worker, which may have been taken over: one that the worker made up, under a seal that is right, ends or continues, and
 * the host keeps serving.
 */
export async function openImages(): Promise<Fuzzer> {
  const box = await openSandbox({ max: 2 }, KEY);
  const suspended = await suspend(box);
  const binding = { purpose: 'suspended program', owner: [suspended.runId, CALLER, suspended.codeDigest] };
  const plain = unseal(KEY, binding, suspended.sealed) as Buffer;
  const imageAt = 4 + plain.readUInt32LE(0);
  return {
    attempt: async (random, note) => {
      const isSealedAnew = random.chance(2);
      const image = random.mutated(plain.subarray(imageAt));
      const sealed = isSealedAnew
        ? seal(KEY, binding, Buffer.concat([plain.subarray(0, imageAt), image]))
        : random.mutated(suspended.sealed);
      note({ isSealedAnew, bytes: (isSealedAnew ? image : sealed).length });
      if (!isSealedAnew && sealed.equals(suspended.sealed)) return;
      await resume(box, { ...suspended, sealed }, isSealedAnew);
    },
    [Symbol.asyncDispose]: () => box[Symbol.asyncDispose](),
  };
}

async function resume(box: TestSandbox, program: SuspendedProgram, isSealedAnew: boolean): Promise<void> {
  try {
    const started = await box.sandbox.resume(program, CALLER, { onCall: async () => ({ ok: true, json: 'null' }) });
    if (!isSealedAnew) throw new Error('changed bytes were opened');
    started.run?.answer(1, { ok: true, json: '"answer"' });
    const late = new Promise<'late'>((resolve) => setTimeout(resolve, MAX_WAIT_MS, 'late').unref());
    const ended = await Promise.race([started.report, late]);
    if (ended === 'late') throw new Error(`no report within ${MAX_WAIT_MS} ms`);
  } catch (error) {
    expectKnown(error, HostError);
    if (!isSealedAnew && (error as HostError).code !== 'image_rejected') throw error;
  }
}

async function suspend(box: TestSandbox): Promise<SuspendedProgram> {
  let hasCalled = false;
  const onCall = () => {
    hasCalled = true;
    return new Promise<never>(() => {});
  };
  const program = box.program(SOURCE, { functions: { ask: () => null } });
  const { run } = await box.sandbox.start({ caller: CALLER, program }, { onCall });
  while (!hasCalled || run?.isWaiting !== true) await new Promise((resolve) => setTimeout(resolve, 1));
  return box.sandbox.suspend(run as SandboxRun);
}
