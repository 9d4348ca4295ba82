import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openStdio, run, runProgram } from '../support/program.js';
import { ScriptsHome } from '../support/scripts.js';
import { fixture } from '../support/upstreams.js';

/** Programs that are kept as tools: what an agent, a server or somebody at the database could gain by them. */

const caught = `const caught = (promise) => promise.then((value) => ({ value }), (error) => error.message);`;

describe('save', () => {
  test('keeps no run of another caller, and no run that does not exist', async () => {
    using home = new ScriptsHome({ policy: { preset: 'open' } });
    await home.program(`globalThis.__codemode_result__ = 'secret of the command line';`);
    const [{ runId = '' } = {}] = await home.json<{ runId: string }[]>(['runs', '--json']);
    await using agent = await openStdio(home.served);
    const { result } = await run(
      agent.client,
      `import { save } from '@codemode/scripts'; ${caught}
globalThis.__codemode_result__ = [
  await caught(save({ name: 'theirs', run: '${runId}' })), await caught(save({ name: 'none' })), await caught(save({ name: 'none', run: 'x' })) ];`,
    );
    expect(result).toEqual([
      expect.stringContaining('you have no run'),
      expect.stringContaining('you have no run that worked'),
      expect.stringContaining('you have no run'),
    ]);
    expect(await home.json(['scripts', '--json'])).toEqual([]);
  });

  test('takes no name that does harm, none that is taken, and only an object', async () => {
    using home = new ScriptsHome({ policy: { preset: 'open' } });
    await home.have({ taken: '1', 'month-end': '1' });
    await home.program(`globalThis.__codemode_result__ = ['value', 'other'];`);
    const { result } = await home.program(`import { save } from '@codemode/scripts'; ${caught}
const wishes = [undefined, 'name', [], { name: 7 }, { name: '__proto__' }, { name: '../up' }, { name: 'taken' }, { name: 'month_end' },
  { name: 'x', inputs: JSON.parse('{ "__proto__": "value" }') }, { name: 'x', inputs: { constructor: 'value' } },
  { name: 'x', inputs: { a: 'value', b: 'value' } }, { name: 'x', inputs: { a: { value: 1 } } }, { name: 'x', inputs: { a: 'missing' } }];
globalThis.__codemode_result__ = await Promise.all(wishes.map((wish) => caught(save(wish))));`);
    expect(result).toEqual([
      ...Array.from({ length: 3 }, () => expect.stringContaining('save takes one object')),
      expect.stringContaining('name and description are strings'),
      ...Array.from({ length: 2 }, () => expect.stringContaining('cannot be the name of a script')),
      expect.stringContaining('there is a script taken already'),
      expect.stringContaining('and so is the script month-end'),
      ...Array.from({ length: 2 }, () => expect.stringContaining('cannot be the name of an input')),
      expect.stringContaining('cannot be two inputs'),
      expect.stringContaining('must be a string or a number'),
      expect.stringContaining('is not in the program'),
    ]);
    expect((await home.json<{ name: string }[]>(['scripts', '--json'])).map(({ name }) => name)).toEqual([
      'month-end',
      'taken',
    ]);
  });
});

test('a kept program whose source or head was exchanged in the database is not run', async () => {
  using home = new ScriptsHome();
  const value = (name: string) => `globalThis.__codemode_result__ = 'ran ${name}';`;
  await home.have({ good: value('good'), whole: value('whole'), bad: value('bad') });
  const { Database } = await import('../../src/store/sqlite/database.js');
  const database = await Database.open(home.path('state'));
  const other = (column: string) => `${column} = (SELECT ${column} FROM scripts WHERE name = 'bad')`;
  database.prepare(`UPDATE scripts SET ${other('source')} WHERE name = 'good'`).run();
  database.prepare(`UPDATE scripts SET ${other('source')}, ${other('head')} WHERE name = 'whole'`).run();
  database.close();
  for (const name of ['good', 'whole']) {
    const { status, stdout } = await home.script(name);
    expect({ name, status, stdout }).toEqual({ name, status: 2, stdout: '' });
  }
  const { result } = await home.program(`import { runScript } from '@codemode/scripts'; ${caught}
globalThis.__codemode_result__ = [await caught(runScript('good')), await caught(runScript('whole')), await caught(runScript('bad'))];`);
  expect(result).toEqual([expect.any(String), expect.any(String), { value: 'ran bad' }]);
});

describe('names of kept programs', () => {
  test('never become functions that change a module or its existing exports', async () => {
    using home = new ScriptsHome();
    const value = (name: string) => `globalThis.__codemode_result__ = 'script ${name}';`;
    await home.have(
      Object.fromEntries(['save', 'then', 'constructor', 'delete', '1st'].map((name) => [name, value(name)])),
    );
    const { result } = await home.program(`const scripts = await import('@codemode/scripts');
globalThis.__codemode_result__ = { names: Object.keys(scripts).sort(), then: await scripts.then_(), constructor: await scripts.constructor(), first: await scripts._1st() };`);
    expect(result).toEqual({
      names: ['_1st', 'constructor', 'delete_', 'listScripts', 'runScript', 'save', 'save_', 'then_'],
      ...{ then: 'script then', constructor: 'script constructor', first: 'script 1st' },
    });
  });

  test('exposed ones take no name of a tool, and no tool takes one of theirs', async () => {
    using home = new ScriptsHome({
      scripts: { expose: 'all' },
      defaults: { codeMode: { enabled: false } },
      mcpServers: {
        codemode_script_look: { command: process.execPath, args: [fixture('ledger-server.mjs'), 'other.txt'] },
      },
    });
    await home.have({ look: `globalThis.__codemode_result__ = 'the script';`, run: '1', ledger__look: '1' });
    await using agent = await openStdio(home.served);
    const { tools } = await agent.client.listTools();
    const names = tools.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => name.startsWith('codemode_script_')).sort()).toEqual([
      ...['codemode_script_ledger__look', 'codemode_script_look', 'codemode_script_run'],
    ]);
    expect(await agent.client.callTool({ name: 'codemode_script_look', arguments: {} })).toMatchObject({
      structuredContent: { result: 'the script' },
    });
  });
});

test('a result schema is not trusted: a script that returns something else returns it', async () => {
  using home = new ScriptsHome({ scripts: { expose: ['lies'] } });
  await home.program(`globalThis.__codemode_result__ = { count: 1 };`);
  await home.run(['scripts', 'add', '--from-run', 'last', '--name', 'lies']);
  await home.run(
    ['scripts', 'add', 'lies', '-', '--no-check', '--replace', '--input-schema', home.write('s.json', LIES)],
    {
      input: `import { input } from '@codemode/input'; globalThis.__codemode_result__ = ['a list', Object.keys(input)];`,
    },
  );
  await using agent = await openStdio(home.served);
  await agent.client.listTools();
  const answered = await agent.client.callTool({ name: 'codemode_script_lies', arguments: { a: 1 } });
  expect(answered).toMatchObject({ structuredContent: { result: ['a list', ['a']] } });
  const refused = await agent.client.callTool({ name: 'codemode_script_lies', arguments: { a: 'text' } });
  expect(refused).toMatchObject({ isError: true, structuredContent: { error: expect.stringContaining('/a') } });
});

/** It refers to itself, and has a pattern that would take forever to match. */
const LIES = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { $ref: '#' }, c: { type: 'string', pattern: '^(a+)+$' } },
  additionalProperties: { $ref: '#/properties/none' },
};

describe('undo', () => {
  test('undoes no run of another caller', async () => {
    const policy = {
      preset: 'open',
      undo: [{ tool: 'ledger/write', with: 'erase', arguments: { text: '$arguments.text' } }],
    };
    using home = new ScriptsHome({ policy });
    await home.program(`import { write } from '@codemode/servers/ledger'; await write({ text: 'mine' });`);
    const [{ runId = '' } = {}] = await home.json<{ runId: string }[]>(['runs', '--json']);
    const { Database } = await import('../../src/store/sqlite/database.js');
    const database = await Database.open(home.path('state'));
    database.prepare("UPDATE runs SET caller = 'subject token ci' WHERE id = ?").run(runId);
    database.close();
    const undone = await runProgram(home.served, 'runs', 'undo', runId, '--yes');
    expect(undone).toMatchObject({ status: 2, stderr: expect.stringContaining('own runs') });
    expect(home.lines).toEqual(['write mine']);
  });

  test('takes nothing from what every object has', async () => {
    const undo = [{ tool: 'ledger/write', with: 'erase', arguments: { text: '$result.constructor.name' } }];
    using home = new ScriptsHome({ policy: { preset: 'open', undo } });
    await home.program(`import { write } from '@codemode/servers/ledger'; await write({ text: 'mine' });`);
    const { stdout } = await runProgram(home.served, 'runs', 'undo', 'last', '--yes', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      done: [],
      steps: [{ state: 'impossible', why: '$result.constructor.name of policy.undo is not in the call' }],
    });
    expect(home.lines).toEqual(['write mine']);
  });

  const undone = async (home: ScriptsHome) => {
    const { stdout, stderr } = await runProgram(home.served, 'runs', 'undo', 'last', '--yes', '--json');
    if (stdout === '') throw new Error(stderr);
    return (JSON.parse(stdout) as { done: { outcome: string }[] }).done.map(({ outcome }) => outcome);
  };
  const server = (file: string, more: object = {}) => ({
    ...{ command: process.execPath, args: [fixture('ledger-server.mjs'), file] },
    ...more,
  });
  const erase = [{ tool: 'ledger/write', with: 'erase', arguments: { text: '$arguments.text' } }];

  test('an approval lets one inverse call through: after it failed, the next try asks again', async () => {
    using home = new ScriptsHome({
      policy: { rules: [{ tools: 'ledger/write', decision: 'allow' }], undo: erase },
    });
    home.write('codemode.config.json', {
      ...JSON.parse(readFileSync(home.config, 'utf8')),
      mcpServers: { ledger: server(home.ledger, { env: { LEDGER_FAILS: 'one' } }) },
    });
    await home.program(`import { write } from '@codemode/servers/ledger'; await write({ text: 'one' });`);
    expect(await undone(home)).toEqual(['waits']);
    const [approval] = await home.pending();
    await home.decide('approve', approval?.id ?? '');
    expect([await undone(home), await undone(home)]).toEqual([['failed'], ['waits']]);
    expect(home.lines).toEqual(['write one', 'erase one']);
  });

  test('sends nothing that a run has read to an external server without asking', async () => {
    using home = new ScriptsHome({ policy: { preset: 'open', undo: erase } });
    home.write('codemode.config.json', {
      ...JSON.parse(readFileSync(home.config, 'utf8')),
      mcpServers: {
        ledger: server(home.ledger, { labels: ['external'] }),
        crm: server(home.path('crm.txt'), { labels: ['private'] }),
      },
    });
    await home.program(`import { write } from '@codemode/servers/ledger'; import { look } from '@codemode/servers/crm';
await write({ text: 'one' }); await look({});`);
    expect(await undone(home)).toEqual(['waits']);
    expect((await home.pending()).map(({ reason }) => reason)).toEqual([
      expect.stringContaining('read private data from crm'),
    ]);
    // What a program saves is shown to every caller.
    const { diagnostics } = await home.program(`import { look } from '@codemode/servers/crm';
import { save } from '@codemode/scripts'; await save({ name: 'leak', description: JSON.stringify(await look({})) });`);
    expect(diagnostics).toMatchObject([{ code: 'APPROVAL_PENDING' }]);
    expect(await home.json(['scripts', '--json'])).toEqual([]);
  });
});
