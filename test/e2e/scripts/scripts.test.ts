import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openHome, openStdio, ready, run, runProgram, until } from '../../support/program.js';
import { ScriptsHome } from '../../support/scripts.js';
import { fixture } from '../../support/upstreams.js';

const LOOK = `import { look } from '@codemode/servers/ledger';
import { input } from '@codemode/input';
console.log('looking for', input.text);
const { lines } = await look(input);
globalThis.__codemode_result__ = { lines, text: input.text };`;

const SCHEMA = {
  type: 'object',
  properties: { text: { type: 'string' }, delayMs: { type: 'number' } },
  required: ['text'],
  additionalProperties: false,
};

/** Runs `code` with `runScript` there and a way to look at errors. */
const nesting = (code: string) => `import { listScripts, runScript } from '@codemode/scripts';
import * as errors from '@codemode/errors';
const caught = (promise) => promise.then((value) => ({ value }), (error) => ({
  class: Object.keys(errors).find((name) => error.constructor === errors[name]), message: error.message, hint: error.hint, ...error }));
${code}`;

describe('codemode scripts', () => {
  test('stores a program, lists it, shows it, runs it with an input and forgets it', async () => {
    using home = new ScriptsHome();
    const schema = home.write('schema.json', SCHEMA);
    const added = await home.add('look-up', LOOK, '--input-schema', schema, '--description', 'Looks things up.');
    expect(added).toEqual({ status: 0, stdout: 'stored: look-up\n', stderr: '' });
    expect(await home.json(['scripts', 'list', '--json'])).toEqual([
      {
        name: 'look-up',
        description: 'Looks things up.',
        profile: 'codemode',
        language: 'typescript',
        inputSchema: SCHEMA,
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        createdAt: expect.stringMatching(/Z$/),
        version: 1,
      },
    ]);
    expect((await home.run(['scripts', 'show', 'look-up'])).stdout).toContain(LOOK);
    const ran = await home.script('look-up', '--input', '{ "text": "a" }');
    expect({ ...ran, stdout: JSON.parse(ran.stdout) }).toMatchObject({
      status: 0,
      stdout: { result: { lines: 1, text: 'a' }, toolTrace: [{ toolName: 'look', ok: true }] },
    });
    const input = home.write('input.json', { text: 'b' });
    expect(JSON.parse((await home.script('look-up', '--input-file', input)).stdout)).toMatchObject({
      result: { lines: 2, text: 'b' },
    });
    expect(await home.run(['scripts', 'remove', 'look-up'])).toMatchObject({ status: 0 });
    expect(await home.json(['scripts', '--json'])).toEqual([]);
    expect(await home.script('look-up')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('no stored script'),
    });
  });

  test('refuses an input that does not fit before anything runs, and says where it is wrong', async () => {
    using home = new ScriptsHome();
    await home.add('look-up', LOOK, '--no-check', '--input-schema', home.write('schema.json', SCHEMA));
    const refusals: [words: string[], says: RegExp][] = [
      [['--input', '{ "text": 1 }'], /look-up at \/text: expected string/],
      [['--input', '{ "text": "a", "more": 1 }'], /\/more/],
      [[], /\/text/],
      [['--input', '[1]'], /expected an object, received an array/],
      [['--input', '{ text }'], /--input is not JSON/],
      [['--input', '{}', '--input-file', '-'], /give one of them/],
      [['--timeout', 'soon', '--input', '{ "text": "a" }'], /--timeout: expected a whole number/],
    ];
    for (const [words, says] of refusals)
      expect(await home.script('look-up', ...words)).toMatchObject({
        status: 2,
        stdout: '',
        stderr: expect.stringMatching(says),
      });
    expect(home.lines).toEqual([]);
  });

  test('takes names that are names, and writes nothing under any of them', async () => {
    using home = new ScriptsHome();
    await home.have({ 'a-name': LOOK });
    for (const name of [
      // Which characters a name may have is tested with the store; here that nothing of a wrong one is written.
      ...['../../escape', '/tmp/escape', 'a\u200bb', 'x'.repeat(100_000)],
    ]) {
      const { status, stderr } = await home.add(name, LOOK);
      expect({ status, stderr: stderr.slice(0, 400) }).toEqual({
        status: 2,
        stderr: expect.stringContaining('cannot be the name of a script'),
      });
    }
    expect(readdirSync(home.path('state')).filter((file) => !/^(codemode\.db|has-scripts$|key$)/.test(file))).toEqual(
      [],
    );
  });

  test('refuses unreadable input with its position, taken names and oversized files; nothing runs', async () => {
    using home = new ScriptsHome();
    const broken = await home.add('broken', 'const a = 1;\nconst b = ;\n');
    expect(broken).toMatchObject({ status: 2, stderr: expect.stringContaining('line 2, column 11') });
    const endless = await home.add('endless', `while (true) {}`);
    expect(endless).toMatchObject({ status: 0, stdout: 'stored: endless\n' });
    expect(await home.add('endless', '1', '--no-check')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--replace'),
    });
    expect(await home.add('endless', '1', '--no-check', '--replace')).toMatchObject({
      status: 0,
      stdout: 'replaced: endless\n',
    });
    // What it does is said once.
    await home.add('endless', '2', '--no-check', '--replace', '--description', 'never ends');
    await home.add('endless', '3', '--no-check', '--replace');
    expect(await home.json(['scripts', 'show', 'endless', '--json'])).toMatchObject({ description: 'never ends' });
    expect(await home.add('large', ' '.repeat(256 * 1024 + 1), '--no-check')).toMatchObject({ status: 2 });
    expect(await home.add('other', '1', '--profile', 'codemod')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('did you mean codemode'),
    });
    const schema = home.write('schema.json', '[]');
    expect(await home.add('other', '1', '--input-schema', schema)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('JSON object'),
    });
    expect((await home.json<{ name: string }[]>(['scripts', '--json'])).map(({ name }) => name)).toEqual(['endless']);
  });

  test('gives a name to one of two processes that want it at once, and tells the other', async () => {
    using home = new ScriptsHome();
    const both = await Promise.all(['1', '2'].map((source) => home.add('wanted', source, '--no-check')));
    expect(both.map(({ status }) => status).sort()).toEqual([0, 2]);
    expect(both.find(({ status }) => status === 2)?.stderr).toContain('there is a script wanted already');
  });
});

describe('a program that runs a stored script', () => {
  test('gets its value or its error, and the calls and logs of the script are among its own', async () => {
    using home = new ScriptsHome();
    await home.add('look-up', LOOK, '--no-check', '--input-schema', home.write('schema.json', SCHEMA));
    await home.have({
      broken: `const a = 1;\nthrow new TypeError('not today');`,
      frozen: `import { input } from '@codemode/input'; input.text = 'changed';`,
      huge: `globalThis.__codemode_result__ = { nothing: null };`,
    });
    await home.add('classic', '1', '--no-check', '--profile', 'code_execution');
    const { result, toolTrace, logs } = await home.program(
      nesting(`console.log('before');
        const value = await runScript('look-up', { text: 'a' });
        console.log('after');
        const names = (await listScripts()).map(({ name }) => name);
        const failures = [];
        for (const [name, input] of [['look-up', { text: 1 }], ['look-up', 'text'], ['look-upp'], ['../look-up'], ['broken'], ['frozen'], ['classic'], [7]])
          failures.push(await caught(runScript(name, input)));
        globalThis.__codemode_result__ = { value, names, failures, plain: await runScript('huge') };`),
    );
    expect(result).toEqual({
      value: { lines: 1, text: 'a' },
      names: ['broken', 'classic', 'frozen', 'huge', 'look-up'],
      plain: { nothing: null },
      failures: [
        expect.objectContaining({
          class: 'SchemaValidationError',
          path: '/text',
          message: expect.stringContaining('look-up'),
        }),
        expect.objectContaining({
          class: 'SchemaValidationError',
          message: expect.stringContaining('expected an object'),
        }),
        expect.objectContaining({
          class: 'ToolNotFoundError',
          message: expect.stringContaining('did you mean look-up?'),
        }),
        expect.objectContaining({ class: 'ToolCallError', message: expect.stringContaining('cannot be the name') }),
        expect.objectContaining({
          ...{ class: 'ToolCallError', script: 'broken', line: 2 },
          message: expect.stringMatching(/^script broken failed: TypeError: not today \(broken:2:\d+\)$/),
        }),
        expect.objectContaining({ class: 'ToolCallError', message: expect.stringMatching(/frozen failed: TypeError/) }),
        // A script of another contract runs as that contract prescribes.
        { value: 1 },
        expect.objectContaining({ class: 'SchemaValidationError' }),
      ],
    });
    expect(toolTrace).toMatchObject([{ serverId: 'ledger', toolName: 'look', ok: true }]);
    expect(logs.map(({ message }) => message)).toEqual(['before', '[look-up] looking for a', 'after']);
    const [ran] = await home.json<{ runId: string }[]>(['runs', '--json']);
    const before = home.lines;
    expect(await home.json(['--config', home.config, 'replay', ran?.runId ?? '', '--json'])).toMatchObject({
      same: true,
    });
    expect(home.lines).toEqual(before);
  });

  test('shares its number of tool calls and its budget with it', async () => {
    using home = new ScriptsHome({
      policy: { prices: { 'ledger/look': 1 }, budget: { run: 3 } },
      sandbox: { limits: { calls: 5 } },
    });
    await home.have({ one: `import { look } from '@codemode/servers/ledger'; await look({ text: 'inner' });` });
    const { result } = await home.program(
      nesting(`import { look } from '@codemode/servers/ledger';
        await look({ text: 'outer' });
        await runScript('one'); await runScript('one');
        globalThis.__codemode_result__ = [await caught(runScript('one')), await caught(runScript('one')), await caught(runScript('one'))];`),
    );
    expect(result).toEqual([
      expect.objectContaining({ message: expect.stringContaining('the budget of a run is 3') }),
      expect.objectContaining({ message: expect.stringContaining('the budget of a run is 3') }),
      expect.objectContaining({ message: expect.stringContaining('the limit of 5 tool calls is reached') }),
    ]);
    expect(home.lines).toEqual(['look outer', 'look inner', 'look inner']);
  });

  test('has received what the script received: private data does not get out through its result', async () => {
    const ledgerOf = (file: string, labels: string[]) => ({
      command: process.execPath,
      args: [fixture('ledger-server.mjs'), file],
      labels,
    });
    using folder = new ScriptsHome();
    const config = folder.write('flow.config.json', {
      approvals: { grace: '50ms' },
      mcpServers: {
        vault: ledgerOf(folder.path('vault.txt'), ['private']),
        outside: ledgerOf(folder.path('outside.txt'), ['external']),
      },
    });
    await folder.have({
      secret: `import { look } from '@codemode/servers/vault'; globalThis.__codemode_result__ = await look({});`,
    });
    const source = nesting(`import { look } from '@codemode/servers/outside';
      const { lines } = await runScript('secret');
      await look({ text: String(lines) });`);
    const { status, stdout } = await folder.run(['--config', config, 'run', '-'], { input: source });
    expect({ status, diagnostics: JSON.parse(stdout).diagnostics }).toMatchObject({
      status: 3,
      diagnostics: [{ code: 'APPROVAL_PENDING', message: expect.stringContaining('private data from vault') }],
    });
  });

  test('ends with it when its time is over, and scripts do not run each other without end', async () => {
    using home = new ScriptsHome();
    await home.have({
      again: `import { runScript } from '@codemode/scripts'; await runScript('again');`,
      nothing: 'void 0;',
      waits: `await new Promise((resolve) => setTimeout(resolve, 60_000));`,
    });
    const { result } = await home.program(
      nesting(`const deep = await caught(runScript('again'));
        const many = [];
        for (let n = 0; n < 86; n++) many.push(await caught(runScript('nothing')));
        await Promise.all(Array.from({ length: 10 }, () => runScript('nothing')));
        many.push(await caught(runScript('nothing')));
        globalThis.__codemode_result__ = { deep: deep.message, first: many[0], last: many.at(-1) };`),
    );
    expect(result).toEqual({
      deep: expect.stringMatching(/^(script again failed: \w+: ){4}scripts call each other more than 4 levels deep/),
      first: { value: null },
      last: expect.objectContaining({
        class: 'SandboxLimitError',
        message: 'the run has already run 100 stored scripts, the most that one run may',
      }),
    });
    const late = await home.run(['--config', home.config, 'run', '-', '--timeout', '700'], {
      input: nesting(`await caught(runScript('waits'));`),
    });
    expect(JSON.parse(late.stdout).diagnostics).toMatchObject([
      { code: 'SANDBOX_LIMIT', message: expect.stringContaining('700 ms') },
    ]);
  });
});

describe('a call of a script that needs a person', () => {
  const WRITE = `import { write } from '@codemode/servers/ledger';
import { input } from '@codemode/input';
globalThis.__codemode_result__ = (await write({ text: input.text })).did;`;

  test('is refused inside another program, and is suspended where it runs by itself', async () => {
    using home = new ScriptsHome();
    await home.have({ writes: WRITE });
    const nested = await home.program(
      nesting(`globalThis.__codemode_result__ = await caught(runScript('writes', { text: 'n' }));`),
    );
    expect(nested.result).toMatchObject({
      class: 'ToolCallError',
      message: expect.stringMatching(
        /^script writes failed: .*ledger.write was not called: it needs a person's approval/,
      ),
      hint: expect.stringContaining('codemode scripts run writes'),
    });
    expect(nested.status).toBe(0);
    const alone = await home.script('writes', '--input', '{ "text": "alone" }');
    const { runId } = JSON.parse(alone.stdout) as { runId: string };
    expect(alone.status).toBe(3);
    const approval = (await home.pending()).find((each) => each.runId === runId);
    await home.decide('approve', approval?.id ?? '');
    expect(await home.resume(runId)).toMatchObject({ state: 'succeeded', response: { result: 'write' } });
    expect(home.lines).toEqual(['write alone']);
  });

  test('is made once a person approves it; the program waits with its time paused', async () => {
    using home = new ScriptsHome({ approvals: { grace: '1m' } });
    await home.have({ writes: WRITE });
    await home.secret();
    const source = nesting(`globalThis.__codemode_result__ = await runScript('writes', { text: 'n' });`);
    const running = home.run(['--config', home.config, 'run', '-', '--timeout', '2000'], { input: source });
    await until(async () => (await home.pending()).length === 1);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const [approval] = await home.pending();
    await home.decide('approve', approval?.id ?? '');
    expect(JSON.parse((await running).stdout)).toMatchObject({ result: 'write', diagnostics: [] });
    expect(home.lines).toEqual(['write n']);
  });
});

test('agents see stored scripts, run them as themselves, and a removed one finishes its run', async () => {
  using ledger = new ScriptsHome();
  const config = {
    policy: [{ tools: 'ledger/look', caller: 'command line', decision: 'deny', reason: 'agents only' }],
    mcpServers: { ledger: { command: process.execPath, args: [fixture('ledger-server.mjs'), ledger.ledger] } },
  };
  using home = openHome(config);
  {
    await using before = await openStdio(home);
    // Only how a program is kept.
    expect(before.client.getInstructions()).toContain('`save({ name, inputs })` of `@codemode/scripts`');
    expect(before.client.getInstructions()).not.toContain('declare module "@codemode/scripts"');
  }
  const file = ledger.write('look.ts', LOOK);
  const added = await runProgram(
    home,
    'scripts',
    'add',
    'look-up',
    file,
    '--no-check',
    '--description',
    'Looks `things` up.',
  );
  expect(added.status).toBe(0);
  await using agent = await openStdio(home);
  const instructions = agent.client.getInstructions() ?? '';
  expect(instructions).toContain('declare module "@codemode/scripts"');
  expect(instructions).toContain(`- look_up(input?: object): Looks 'things' up.`);
  expect((await runProgram(home, 'prompt')).stdout).toContain(`- look_up(input?: object): Looks 'things' up.`);
  await ready(agent.client, 'ledger');
  const running = run(
    agent.client,
    nesting(`globalThis.__codemode_result__ = await runScript('look-up', { text: 'slow', delayMs: 4000 });`),
  );
  await until(() => ledger.lines.length === 1);
  const denied = await runProgram(home, 'scripts', 'run', 'look-up', '--input', '{}');
  expect(denied).toMatchObject({ status: 1, stdout: expect.stringContaining("Could not find export 'look'") });
  expect((await runProgram(home, 'scripts', 'remove', 'look-up')).status).toBe(0);
  expect((await running).result).toEqual({ lines: 1, text: 'slow' });
  const gone = await run(agent.client, nesting(`globalThis.__codemode_result__ = await caught(runScript('look-up'));`));
  expect(gone.result).toMatchObject({ class: 'ToolNotFoundError' });
});

describe('a classic script', () => {
  const CLASSIC = `var res = call_tool('ledger', 'look', { text: input.text });
if (!res.ok) return { failed: res.error.message };
return { lines: res.result.lines, text: input.text };`;
  const classic = ['--profile', 'code_execution', '--language', 'javascript'];

  test('is stored with its contract, and run by name', async () => {
    using home = new ScriptsHome();
    const schema = home.write('schema.json', SCHEMA);
    expect(await home.add('count', CLASSIC, ...classic, '--input-schema', schema)).toMatchObject({ status: 0 });
    const ran = await home.script('count', '--input', '{ "text": "a" }');
    expect({ ...ran, stdout: JSON.parse(ran.stdout) }).toMatchObject({
      status: 0,
      stdout: { ok: true, value: { lines: 1, text: 'a' } },
    });
    expect(await home.script('count', '--input', '{ "text": 7 }')).toMatchObject({ status: 2, stdout: '' });
  });

  test('runs another by call_script, whose calls are its own, and whose failure is a value', async () => {
    using home = new ScriptsHome();
    await home.add('count', CLASSIC, ...classic, '--input-schema', home.write('schema.json', SCHEMA));
    await home.add('twice', "call_script('count', { text: input.text }).result", ...classic);
    await home.add('broken', 'null.field', ...classic);
    await home.add('endless', "call_script('endless', {})", ...classic);
    await home.add('module', LOOK);
    const exec = async (code: string, ...flags: string[]) =>
      JSON.parse((await home.run(['code', 'exec', '--code', code, ...flags])).stdout);
    expect(await exec("call_script('twice', { text: 'a' })")).toEqual({
      ok: true,
      value: { ok: true, result: { lines: 1, text: 'a' } },
    });
    expect(await exec("call_script('module', { text: 'm' })")).toEqual({
      ok: true,
      value: { ok: true, result: { lines: 2, text: 'm' } },
    });
    const failures = await exec(`[call_script('broken'), call_script('none'),
      call_script('count', { text: 7 }), call_script('../x')].map((each) => each.error.message)`);
    expect(failures.value).toEqual([
      expect.stringContaining('script broken failed: TypeError'),
      expect.stringContaining('none'),
      expect.stringContaining('/text'),
      expect.stringContaining('name'),
    ]);
    const limited = await exec(
      "call_script('count', { text: 'a' }); call_script('count', { text: 'b' })",
      '--max-tool-calls',
      '1',
    );
    expect(limited.error).toMatchObject({ code: 'MAX_TOOL_CALLS_EXCEEDED' });
    const deep = await exec("call_script('endless', {})", '--timeout', '20000');
    expect(JSON.stringify(deep)).toMatch(/more than 4 levels deep|no process is free/);
  });
});
