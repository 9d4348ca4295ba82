import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { IsolationLevel } from '../../src/domain/isolation.js';
import { GO_ROOTS } from '../support/go.js';
import { jailForTests } from '../support/jailed.js';
import type { KillableHostOptions } from '../support/killable-host.js';
import { commandOf, descendantsOf, expectGone } from '../support/processes.js';

/** How often each host is started and killed. More by command: `CODEMODE_KILLS=50 npx vitest run test/sandbox/killed-hosts`. */
const KILLS = Number(process.env.CODEMODE_KILLS ?? 1);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** As deep as the sources of the tests: what they find by a relative path, the bundle finds too. */
const HOST = `${ROOT}/node_modules/.codemode-tests/killable-host.mjs`;

beforeAll(async () => {
  mkdirSync(`${ROOT}/node_modules/.codemode-tests`, { recursive: true });
  const banner = `import { createRequire as __require } from 'node:module'; const require = __require(import.meta.url);`;
  await build({
    ...{ entryPoints: [`${ROOT}/test/support/killable-host.ts`], outfile: HOST },
    ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20', banner: { js: banner }, logLevel: 'error' },
  });
});

for (const level of ['strict', 'namespaces', 'none'] as const satisfies readonly IsolationLevel[]) {
  const { options } = level === 'none' ? { options: {} } : await jailForTests(level);

  describe(`a host killed by SIGKILL at isolation ${level}`, options, () => {
    test('leaves no program of any runtime behind, in whatever state', { timeout: 300_000 * KILLS }, async () => {
      for (let kill = 0; kill < KILLS; kill++) {
        const { pid, killed } = await startHost({
          isolation: level,
          goRoot: GO_ROOTS.at(-1),
          goCopies: KILLS > 1 ? 8 : 3,
        });
        const below = descendantsOf(pid);
        const commands = below.map(commandOf).join('\n');
        for (const runtime of [
          /worker\.js/,
          ...(level === 'none' ? [] : [/v8-main\.cjs/, ...(level === 'strict' ? [/tsgo|tsc/] : [])]),
          /hook-command/,
          /node-program\.js/,
          /main\.py/,
          ...(GO_ROOTS.length > 0 ? [/program/] : []),
        ])
          expect(commands).toMatch(runtime);
        await killed();
        await expectGone(below);
      }
    });
  });
}

async function startHost(options: KillableHostOptions): Promise<{ pid: number; killed: () => Promise<unknown> }> {
  const host = spawn(process.execPath, [HOST, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void host.kill('SIGKILL'));
  const ended = new Promise((resolve) => host.once('exit', resolve));
  await Promise.race([
    new Promise((resolve) => host.stdout.once('data', resolve)),
    ended.then((code) => Promise.reject(new Error(`the host ended with status ${code}`))),
  ]);
  const killed = () => {
    host.kill('SIGKILL');
    return ended;
  };
  return { pid: host.pid as number, killed };
}
