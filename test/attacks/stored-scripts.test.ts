import { describe, expect, test } from 'vitest';
import type { EndedAnswer } from '../../src/host/runs/run-types.js';
import { openSession } from '../support/host.js';
import { openTakenOver } from '../support/hostile-worker.js';
import { openHome, openStdio, run } from '../support/program.js';
import { ScriptsHome } from '../support/scripts.js';

/** Stored scripts are what a person stored or allowed. Agents run them, and gain nothing by it that a program of theirs has not. */

const ATTEMPTS = `const attempts = [];
const attempt = async (what) => { try { attempts.push(await what()) } catch (error) { attempts.push(error.name) } };
const scripts = await import('@codemode/scripts');
for (const name of ['@codemode/scripts/add', '@codemode/input', 'codemode:bindings', '@scripts/addScript'])
  await attempt(async () => Object.keys(await import(name)));
await attempt(() => scripts.addScript('planted', '1'));
await attempt(() => { scripts.addScript = () => 'planted'; });
await attempt(() => scripts.runScript.call(null, { toString: () => 'planted' }));
await attempt(() => scripts.runScript('__proto__'));
await attempt(() => scripts.runScript('constructor'));
await attempt(() => scripts.runScript("x'; INSERT INTO scripts VALUES ('planted', x'00', x'00'); --"));
globalThis.__codemode_result__ = { exports: Object.keys(scripts).sort(), attempts };`;

describe('storing or removing a script', () => {
  test('is not among what a program or a client can ask for, but for save, which asks', async () => {
    using home = openHome({});
    await using agent = await openStdio(home);
    expect((await agent.client.listTools()).tools.map(({ name }) => name)).toEqual(['codemode_run']);
    const { result } = await run(agent.client, ATTEMPTS);
    expect(result).toEqual({
      exports: ['listScripts', 'runScript', 'save'],
      attempts: [
        ...Array.from({ length: 4 }, () => expect.stringMatching(/Error$/)),
        ...['TypeError', 'TypeError', 'SchemaValidationError', 'ToolCallError', 'ToolNotFoundError', 'ToolCallError'],
      ],
    });
  });

  test('cannot be asked for by a worker that was taken over', async () => {
    const targets = ['addScript', 'add', 'removeScript', 'remove', '../runScript', 'runScript/..', 'constructor', ''];
    await using box = await openTakenOver(`hello();
      const { execution } = wait('execution/start');
      const replies = ${JSON.stringify(targets)}.map((target, index) => {
        call(execution, index + 1, '@scripts/' + target, '["planted", "1"]');
        send({ type: 'execution/waiting', execution, wakeAtMs: null, usage: { cpuMs: 0, memoryBytes: 0 } });
        const { type, body } = receive();
        return [type, JSON.parse(body).message];
      });
      end(execution, JSON.stringify(replies)); silence();`);
    const limits = { timeoutMs: 20_000, maxMemoryBytes: 2 ** 26, maxLogBytes: 1_000, maxToolCalls: 10 };
    const answer = await openSession(box.sandbox).run({ source: '1', language: 'javascript', limits });
    expect(answer).toMatchObject({ state: 'succeeded', summary: { outcome: { status: 'completed' } } });
    const { outcome } = (answer as EndedAnswer).summary;
    expect(outcome.status === 'completed' ? JSON.parse(outcome.resultJson) : outcome).toEqual(
      targets.map((target) => ['call/error', `there is no @scripts/${target} in @codemode/scripts`]),
    );
  });
});

test("an approval of the program's call does not cover the same call of a script it runs", async () => {
  using home = new ScriptsHome();
  const write = `import { write } from '@codemode/servers/ledger';`;
  await home.have({ writes: `${write} await write({ text: 'x' });` });
  const { runId = '' } = await home.program(`${write} import { runScript } from '@codemode/scripts';
await write({ text: 'x' });
globalThis.__codemode_result__ = await runScript('writes').catch((error) => error.message);`);
  const [approval] = await home.pending();
  await home.decide('approve', approval?.id ?? '');
  const { state, response } = await home.resume(runId);
  expect({ state, result: response?.result }).toEqual({
    state: 'succeeded',
    result: expect.stringContaining("it needs a person's approval"),
  });
  expect(home.lines).toEqual(['write x']);
});
