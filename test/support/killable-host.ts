import { join } from 'node:path';
import { runCommandHook } from '../../src/broker/hooks/command-hook.js';
import type { CallerId } from '../../src/domain/run.js';
import { findCompiler, isCompiler } from '../../src/sandbox/checker/compiler.js';
import { TypeCheckers } from '../../src/sandbox/checker/type-checkers.js';
import { openJail } from '../../src/sandbox/jail/probe.js';
import { ChildGroups } from '../../src/upstream/mcp/stdio/stdio-groups.js';
import { openGo } from './go-runtime.js';
import { openRuntimes } from './process-runtimes.js';
import { openSandbox } from './sandbox.js';

/**
 * A host in its own process: a program of each runtime in each state, none of which ends by itself. Prints `up` when
 * all of them are there. The states are those in which a host can be killed: a program computes, sleeps, waits for the
 * answer of a call, or is being compiled. Type checkers and commands of hooks are processes of a host too.
 */
export interface KillableHostOptions {
  readonly isolation: 'strict' | 'namespaces' | 'none';
  /** Where a Go toolchain is; without one there are no Go programs. */
  readonly goRoot?: string | undefined;
  /** Copies of each Go program. */
  readonly goCopies: number;
}

const options = JSON.parse(process.argv[2] ?? '') as KillableHostOptions;
const jail = await openJail({ isolation: options.isolation, unsafelyAllowNoJail: true });
const limits = { timeoutMs: 600_000, maxMemoryBytes: 64 * 1024 * 1024 };
const never = () => new Promise<never>(() => {});

/** Runs a program and waits until it has called `here`. */
function arrival(start: (here: () => null) => Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const here = () => {
      // It is in its state a little after the answer.
      setTimeout(resolve, 20);
      return null;
    };
    start(here).then((report) => reject(new Error(`it ended: ${JSON.stringify(report)}`)), reject);
  });
}

const sandbox = await openSandbox({ min: 0, max: 8 }, undefined, jail);
const QUICKJS = {
  computing: 'for (;;) {}',
  suspended: 'await new Promise((resolve) => setTimeout(resolve, 1e9));',
  calling: 'await wait({});',
};
const quickjs = Object.entries(QUICKJS).map(([state, source]) =>
  arrival((here) =>
    sandbox.run(`import { here, wait } from '@codemode/servers/test'; await here({}); ${source}`, {
      ...{ caller: state, functions: { here, wait: never } },
      limits: { timeoutMs: 600_000 },
    }),
  ),
);

/** A jail is what ends these: without one, V8 is not used. */
const v8 =
  options.isolation === 'none'
    ? []
    : Object.entries(QUICKJS).map(([state, source]) =>
        arrival((here) =>
          sandbox.run(`import { here, wait } from '@codemode/servers/test'; await here({}); ${source}`, {
            ...{ caller: `v8 ${state}`, functions: { here, wait: never }, engine: 'v8' },
            limits: { timeoutMs: 600_000 },
          }),
        ),
      );

const runtimes = await openRuntimes({ turns: { maxRunning: 16 } }, jail);
const REAL = {
  node: {
    computing: 'for (;;) {}',
    suspended: 'await new Promise((resolve) => setTimeout(resolve, 1e9));',
    calling: `await callTool('test', 'wait', {});`,
  },
  python: {
    computing: 'while True: pass',
    suspended: 'import time; time.sleep(1e6)',
    calling: `call_tool_sync('test', 'wait')`,
  },
};
const HEADS = {
  node: `import { callTool } from './client/mcp_client.js';\nawait callTool('test', 'here', {});\n`,
  python: `from client.mcp_client import call_tool_sync\ncall_tool_sync('test', 'here')\n`,
};
const real = (['node', 'python'] as const).flatMap((language) =>
  Object.entries(REAL[language]).map(([state, source]) =>
    arrival((here) =>
      runtimes.run(language, HEADS[language] + source, {
        ...{ caller: `${language} ${state}`, limits, functions: { here, wait: never } },
      }),
    ),
  ),
);

/** A command of the user's that hears of calls, with a process of its own: the guard of servers ends both. */
const hook = runCommandHook(
  { kind: 'command', command: '/bin/sh', args: ['-c', 'sleep 600 & : hook-command; sleep 600; :'] },
  '{}',
  { environment: { PATH: process.env.PATH ?? '' }, groups: new ChildGroups() },
  new AbortController().signal,
);
hook.catch(() => {});

/** Type checkers: one waits for a program, the other is at work on one that takes long. */
// Beside the bundle of this file.
const configured = join(import.meta.dirname, '../typescript-native');
const compiler = findCompiler({ configured, installFolder: '/nonexistent', from: import.meta.url });
async function startCheckers(): Promise<void> {
  if (options.isolation === 'none' || !isCompiler(compiler)) return;
  const checkers = new TypeCheckers({ jail, compiler, limits: { checkMs: 600_000, startMs: 60_000 } });
  await Promise.all([checkers.warm('idle' as CallerId), checkers.warm('busy' as CallerId)]);
  const heavy = `type Build<N extends number, T extends 0[] = []> = T['length'] extends N ? T : Build<N, [...T, 0]>;
    ${Array.from({ length: 400 }, (_, n) => `export const a${n}: Build<${500 + n}> = 1 as never;`).join('\n')}`;
  void checkers.check('busy' as CallerId, heavy, { globals: '', module: () => undefined }).catch(() => {});
}

const tool = (name: string) => ({ serverId: 'test', name, inputSchema: {} });
const GO = { computing: 'for {}', suspended: 'time.Sleep(time.Hour)', calling: 'wait(ctx)' };
async function startGo(goRoot: string): Promise<void> {
  const go = await openGo(goRoot, { jail, turns: { maxRunning: 32 } });
  await go.runtime.warm();
  const run = (source: string, caller: string, here: () => null) =>
    go.run(`here(ctx)\n${source}\nreturn nil`, {
      ...{ caller, limits, tools: [tool('here'), tool('wait')], functions: { here, wait: never } },
    });
  await Promise.all(
    Object.entries(GO).flatMap(([state, source]) =>
      Array.from({ length: options.goCopies }, (_, copy) =>
        arrival((here) => run(source, `go ${state} ${copy}`, here)),
      ),
    ),
  );
  // New each time, so that it is not there already: at `up` the compiler is at work on it.
  void run(`_ = "${Date.now()} ${process.pid}"`, 'go compiling', () => null);
}

await Promise.all([...quickjs, ...v8, ...real, startCheckers()]);
if (options.goRoot !== undefined) await startGo(options.goRoot);
process.stdout.write('up');
