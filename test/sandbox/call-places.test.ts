import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GuestCall, SourcePosition } from '../../src/domain/run.js';
import type { SandboxRun } from '../../src/sandbox/sandbox-run.js';
import { CALLER, openSandbox, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ max: 1 });
});
afterAll(() => box[Symbol.asyncDispose]());

const IMPORT = "import { ask } from '@codemode/servers/test';\n";

/** The lines at which each of the first calls was made, innermost first, asked while they are open. */
async function linesOf(source: string, count: number, isBlocking = false): Promise<number[][]> {
  const { execution: run, made } = await start(source, isBlocking);
  while (made.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
  const places = await Promise.all(made.map(({ number }) => run.locate(number)));
  run.cancel();
  return places.map(lines);
}

async function start(source: string, isBlocking = false) {
  const made: GuestCall[] = [];
  const program = box.program(IMPORT + source, { functions: { ask: () => null }, isBlocking });
  const started = await box.sandbox.start(
    { caller: CALLER, program },
    {
      onCall: (call) => {
        made.push(call);
        return new Promise(() => {});
      },
    },
  );
  return { execution: started.run as SandboxRun, made };
}

const lines = (places: readonly SourcePosition[]) => places.map(({ line }) => line);

test('an open call is found in the lines that were written, however it was made [B16]', async () => {
  const source = `interface Wish { readonly what: string }
type Wishes = readonly Wish[];
const alias = ask;
const { ask: taken } = { ask };
const all: Record<string, typeof ask> = { ['a' + 'sk']: ask };

const helper = (what: string): Promise<unknown> => {
  return alias({ what } satisfies Wish);
};
const open: Promise<unknown>[] = [
  ask('direct'),
  taken('destructured'),
  all['as' + 'k']!('computed'),
  helper('wrapped'),
  ...['mapped'].map(ask),
  Reflect.apply(ask, undefined, ['applied']),
];
await Promise.all(open);`;
  expect(await linesOf(source, 6)).toEqual([[12], [13], [14], [9, 15], [16], [17]]);
});

test('also after the program has waited, and in loops [B16]', async () => {
  const source = `await new Promise<void>((resolve) => setTimeout(resolve, 1));
for (const each of [1, 2]) {
  void ask(each);
}
await ask('last');`;
  expect(await linesOf(source, 3)).toEqual([[4], [4], [6]]);
});

test('no position is reported where the stack has none, nor during a blocking call [B16]', async () => {
  expect(await linesOf('await Promise.resolve(1).then(ask);', 1)).toEqual([[]]);
  expect(await linesOf('Error.stackTraceLimit = 0; await ask(1);', 1)).toEqual([[]]);
  expect(await linesOf('ask(1);', 1, true)).toEqual([[]]);
});

test('a program that patches what it finds changes nothing [B16]', async () => {
  const patches = `Object.defineProperty(Error.prototype, 'x', { value: 1 });
String.prototype.split = () => ['    at f (main.ts:1:1)'];
Reflect.apply = () => '    at f (main.ts:1:1)';
globalThis.Error = class {} as never;
await ask(1);`;
  expect(await linesOf(patches, 1)).toEqual([[6]]);
});

test('a resumed program still knows where its calls are, and is not disturbed by the question [B16]', async () => {
  const { execution: run, made } = await start('\n\nglobalThis.__codemode_result__ = await ask(1);');
  while (!run.isWaiting) await new Promise((resolve) => setTimeout(resolve, 1));
  const suspended = await box.sandbox.suspend(run);
  expect(await run.locate(made[0]?.number ?? 0)).toEqual([]);
  const { run: resumed, report } = await box.sandbox.resume(suspended, CALLER, {
    onCall: () => new Promise(() => {}),
  });
  expect(lines(await resumed.locate(1))).toEqual([4]);
  expect(lines(await resumed.locate(1))).toEqual([4]);
  expect(await resumed.locate(2)).toEqual([]);
  resumed.answer(1, { ok: true, json: '"fine"' });
  expect((await report).outcome).toEqual({ status: 'completed', resultJson: '"fine"' });
});
