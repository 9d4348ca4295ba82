import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Failure } from '../../domain/run.js';
import { MAX_VALUE_BYTES, PROTOCOL, type ProcessStart } from '../../wire/messages.js';
import { watchRaces } from '../quickjs/guest/races.js';
import { transpile } from '../transpiler/transpile.js';
import { CallPromises } from './call-promises.js';
import { CLIENT_KEY, CLIENT_SOURCE, type Client, createClient, OpenCalls } from './client.js';
import { Connection } from './connection.js';
import { failureOf, positionIn } from './failures.js';
import { seededRandom } from './seeded-random.js';
import { strictJson } from './strict-json.js';

/** Set by the build. The host compares it with its own and refuses a worker of another build. */
declare const BUILD_ID: string;

/**
 * One program on Node: sends a hello, waits for the program, runs it as an ES module, and returns its outcome when nothing is left
 * to do. Then the process exits.
 */
const workspace = process.argv[3] as string;
const programFile = join(workspace, 'program.mjs');
const connection = new Connection();

// Before the hello: everything that a program needs is loaded by this, and costs it nothing later.
transpile('const warm: number = 1;', 'typescript');
writeFileSync(programFile, 'await 0;\n');
await import(`${pathToFileURL(programFile).href}?warm`);
process.setSourceMapsEnabled(true);
// Output is written when `write` returns: nothing is lost at an exit, and nothing piles up in this process.
for (const stream of [process.stdout, process.stderr])
  (stream as { _handle?: { setBlocking?(isBlocking: boolean): void } })._handle?.setBlocking?.(true);

connection.onStart = ({ source, files, seed }) => {
  if (seed !== undefined) Math.random = seededRandom(seed);
  void run(source, files);
};
connection.send({ type: 'worker/ready', protocol: PROTOCOL, build: BUILD_ID, role: 'node' });

async function run(source: string, files: ProcessStart['files']): Promise<void> {
  process.argv.splice(1, process.argv.length, programFile);
  process.chdir(workspace);
  const promises = new CallPromises();
  const open = new OpenCalls();
  // Timers of Node are not counted: those that are open when a race is over end with it.
  const races = watchRaces(() => ({ call: open.last, timer: 0 }));
  const lineOf = (stack: string) => positionIn(stack, workspace)?.line;
  const client = createClient(connection, promises, open, lineOf);
  Object.defineProperty(globalThis, CLIENT_KEY, { value: client satisfies Client });
  Object.defineProperty(globalThis, 'catalog', { value: client.catalog, writable: true, configurable: true });
  let state: 'running' | 'settled' | 'ended' = 'running';
  let hasNothingLeft = false;

  const end = (failure: Failure | null, exitCode: number, result = ''): void => {
    if (state === 'ended') return;
    state = 'ended';
    connection.sendEnd(failure, exitCode, result);
  };
  const fail = (error: unknown): void => {
    const failure = failureOf(error, workspace);
    // A field of a promise that was not awaited is undefined, and the next access throws the error.
    process.stderr.write(promises.warning(lineOf));
    process.stderr.write(`${failure.stack ?? failure.message}\n`);
    // The result it had set so far is sent too, if it is JSON.
    end(failure, 1, resultJson().json);
    process.exit(1);
  };
  const complete = (exitCode: number): void => {
    if (exitCode !== 0) return end(null, exitCode);
    process.stderr.write(promises.warning(lineOf));
    const { failure, json } = resultJson();
    end(failure, failure === null ? 0 : 1, json);
  };
  // Its last line has run and it has a result: the remaining work must not cost it the result.
  const hasResult = () => state === 'settled' && Reflect.get(globalThis, 'result') !== undefined;
  connection.onLastMoment = () => {
    if (!hasResult()) return;
    process.stderr.write(
      'warning: time ran out while calls or timers were pending; `result` is what the program had by then. Await what it needs.\n',
    );
    process.exit(0);
  };
  // The program's own handlers come first and may handle the error, as on any Node.
  process.on('uncaughtException', (error) => {
    if (process.listenerCount('uncaughtException') === 1) fail(error);
  });
  // No timer, no call, no file. It may not be the end yet: a handler of the program may start more work.
  process.on('beforeExit', () => {
    hasNothingLeft = true;
  });
  process.on('exit', (exitCode) => {
    if (hasNothingLeft && state === 'running') end(NEVER_SETTLED, 1);
    else complete(exitCode);
  });

  try {
    const transpiled = transpile(source, 'typescript', 'globalThis.result');
    if (!transpiled.ok) {
      process.stderr.write(`SyntaxError: ${transpiled.failure.message}\n`);
      end(transpiled.failure, 1);
      process.exit(1);
    }
    for (const [path, text] of [...OWN_FILES, ...files, ['program.mjs', withMap(transpiled, source)] as const])
      writeFile(join(workspace, path), text);
    connection.isQuiet = true;
    await import(pathToFileURL(programFile).href);
    state = 'settled';
    // Only calls that lost a race are left, and its timers.
    const isRaceOver = races.areOver({ call: open.newest, timer: 0 });
    if (isRaceOver && hasResult() && promises.warning(lineOf) === '') process.exit(0);
  } catch (error) {
    fail((await whyModuleFails(error)) ?? error);
  }
}

/**
 * Names are linked before any module runs, so the name of an unavailable server is reported as missing before its module can say
 * why. This gets the reason from the error that the module throws.
 */
async function whyModuleFails(error: unknown): Promise<unknown> {
  if (!(error instanceof SyntaxError)) return undefined;
  const [, module] = /module '\.\/(servers\/\w+\/index\.js)' does not provide/.exec(error.message) ?? [];
  if (module === undefined) return undefined;
  return import(pathToFileURL(join(workspace, module)).href).then(
    () => undefined,
    (reason: unknown) => reason,
  );
}

/** Node maps positions itself, in every stack that the program sees. */
function withMap({ code, mapJson }: { readonly code: string; readonly mapJson: string }, source: string): string {
  if (mapJson === '') return code;
  const map = { ...(JSON.parse(mapJson) as object), sources: ['program.mjs'], sourcesContent: [source] };
  const encoded = Buffer.from(JSON.stringify(map)).toString('base64');
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}\n`;
}

const OWN_FILES: ProcessStart['files'] = [
  // Generated modules are `.js`, and all of them ES modules.
  ['package.json', '{"type":"module"}\n'],
  ['client/mcp_client.js', CLIENT_SOURCE],
];

function writeFile(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

const NEVER_SETTLED: Failure = {
  kind: 'never_settled',
  name: 'Error',
  message: 'the program awaits a promise that nothing can settle any more',
  hint: 'Look for a promise that nobody resolves.',
};

function resultJson(): { readonly failure: Failure | null; readonly json: string } {
  const value: unknown = Reflect.get(globalThis, 'result');
  if (value === undefined) return { failure: null, json: '' };
  let json: string | undefined;
  try {
    json = strictJson(value);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { failure: notJson(why, /\ba Promise\b/.test(why) ? AWAIT : undefined), json: '' };
  }
  if (json === undefined) return { failure: notJson(`a ${typeof value} cannot be written as JSON`), json: '' };
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_VALUE_BYTES) return { failure: null, json };
  const failure: Failure = {
    kind: 'limit',
    name: 'SandboxLimitError',
    limit: 'output',
    message: `globalThis.result has ${bytes} bytes of JSON; the most is ${MAX_VALUE_BYTES}`,
    hint: 'Filter or summarise before setting the result.',
  };
  return { failure, json: '' };
}

const AWAIT = 'Write `await` in front of the call, or `await Promise.all(list)` for a list of calls.';

function notJson(
  why: string,
  hint = 'Set it to plain objects, arrays, strings, finite numbers, booleans and null.',
): Failure {
  return {
    kind: 'not_serializable',
    name: 'TypeError',
    message: `globalThis.result is not JSON: ${why}`.slice(0, 8_000),
    hint,
  };
}
