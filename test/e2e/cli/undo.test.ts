import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { Database } from '../../../src/store/sqlite/database.js';
import { PROGRAM as CODEMODE } from '../../support/cli.js';
import { until } from '../../support/program.js';
import { ScriptsHome } from '../../support/scripts.js';
import { fixture } from '../../support/upstreams.js';

interface Undone {
  readonly runId: string;
  readonly steps: { readonly call: number; readonly tool: string; readonly state: string; readonly why: string }[];
  readonly done: { readonly call: number; readonly outcome: string }[];
}

const UNDO = [
  { tool: 'ledger/write', with: 'erase', arguments: { text: '$arguments.text', delayMs: '$result.lines' } },
];

/** Writes two lines, looks, and erases one. */
const PROGRAM = `import { erase, look, write } from '@codemode/servers/ledger';
await write({ text: 'one' }); await look({ text: 'seen' }); await write({ text: 'two' }); await erase({ text: 'gone' });
globalThis.__codemode_result__ = 'done';`;

const THREE = `import { write } from '@codemode/servers/ledger';
for (const text of ['one', 'two', 'three']) await write({ text });`;

const open = { policy: { preset: 'open', undo: UNDO } };

const states = ({ steps }: Undone) => steps.map(({ call, tool, state }) => `${call} ${tool} ${state}`);
const outcomes = ({ done }: Undone) => done.map(({ call, outcome }) => `${call} ${outcome}`);

async function undo(home: ScriptsHome, ...flags: string[]): Promise<Undone & { readonly status: number | null }> {
  const { status, stdout, stderr } = await home.run([
    '--config',
    home.config,
    'runs',
    'undo',
    'last',
    '--json',
    ...flags,
  ]);
  if (stdout === '') throw new Error(stderr);
  return { ...(JSON.parse(stdout) as Undone), status };
}

describe('codemode runs undo', () => {
  test('undoes calls in reverse order, once, and says what it cannot undo', async () => {
    using home = new ScriptsHome(open);
    await home.program(PROGRAM);
    const planned = await undo(home, '--dry-run');
    expect(states(planned)).toEqual([
      ...['4 ledger/erase impossible', '3 ledger/write ready', '2 ledger/look nothing', '1 ledger/write ready'],
    ]);
    expect(planned.steps[0]?.why).toBe('no rule of policy.undo covers ledger/erase');
    expect(planned.steps[1]).toMatchObject({
      inverse: { tool: 'ledger/erase', arguments: { text: 'two', delayMs: 3 } },
    });
    const before = home.lines;
    const asked = await home.run(['--config', home.config, 'runs', 'undo', 'last']);
    expect(asked).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
    expect(home.lines).toEqual(before);
    expect(outcomes(await undo(home, '--yes'))).toEqual(['3 undone', '1 undone']);
    expect(home.lines.slice(before.length)).toEqual(['erase two', 'erase one']);
    const again = await undo(home, '--yes');
    expect(states(again).filter((state) => state.includes('write'))).toEqual([
      '3 ledger/write undone',
      '1 ledger/write undone',
    ]);
    expect(again.done).toEqual([]);
    expect(home.lines).toHaveLength(before.length + 2);
  });

  test('stops at the call that its server refuses, says what is left, and continues there', async () => {
    using home = new ScriptsHome(open);
    await home.program(THREE);
    const failing = home.write('failing.config.json', {
      ...open,
      mcpServers: {
        ledger: {
          ...{ command: process.execPath, args: [fixture('ledger-server.mjs'), home.ledger] },
          env: { LEDGER_FAILS: 'two' },
        },
      },
    });
    const words = ['--config', failing, 'runs', 'undo', 'last', '--yes'];
    const first = await home.run(words);
    expect({ status: first.status, lines: first.stdout.split('\n').slice(3) }).toEqual({
      status: 1,
      lines: [
        'undone: 3 ledger/write',
        'failed: 2 ledger/write: not today',
        expect.stringMatching(
          /^not undone: 2, 1\. To continue: (codemode runs undo [0-9a-f-]{36}), or without call 2: \1 --skip 2$/,
        ),
        '',
      ],
    });
    expect(await home.run(words)).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(
        /^done {4}3 .*\nundo {4}2 .*which failed the last time.*\nundo {4}1 .*\nfailed: 2 /,
      ),
    });
    // What fails each time does not stand in the way, if a person says so. It is not forgotten either.
    expect(await home.run([...words, '--skip', '2'])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/\nskip {4}2 .*\nundo {4}1 .*\nundone: 1 ledger\/write\n$/),
    });
    expect(await home.run([...words, '--skip', '2,9'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('the run has no call "9"'),
    });
    const next = await undo(home, '--yes');
    expect({ status: next.status, done: outcomes(next) }).toEqual({ status: 0, done: ['2 undone'] });
    expect(home.lines.slice(3)).toEqual(['erase three', 'erase two', 'erase two', 'erase one', 'erase two']);
  });

  test('waits for a person where the policy asks, and is done once they have decided', async () => {
    using home = new ScriptsHome({
      policy: { rules: [{ tools: 'ledger/write', decision: 'allow' }], undo: UNDO },
    });
    await home.program(`import { write } from '@codemode/servers/ledger'; await write({ text: 'one' });`);
    const waiting = await undo(home, '--yes');
    expect({ status: waiting.status, done: outcomes(waiting) }).toEqual({ status: 3, done: ['1 waits'] });
    const [approval] = await home.pending();
    expect(approval).toMatchObject({ serverId: 'ledger', toolName: 'erase', arguments: { text: 'one' } });
    await home.decide('approve', approval?.id ?? '');
    expect(outcomes(await undo(home, '--yes'))).toEqual(['1 undone']);
    expect(home.lines).toEqual(['write one', 'erase one']);
  });

  test('finds the parts of an answer that is JSON as text, as most servers give it', async () => {
    const tools = ['create_issue', 'close_issue'].map((name) => ({ name, inputSchema: { type: 'object' } }));
    const replies = { create_issue: { content: [{ type: 'text', text: '{"issue":{"number":7}}' }] } };
    const undoRule = { tool: 'git/create_issue', with: 'close_issue', arguments: { number: '$result.issue.number' } };
    using home = new ScriptsHome({ policy: { preset: 'open', undo: [undoRule] } });
    const script = home.write('script.json', { tools, replies });
    home.write('codemode.config.json', {
      policy: { preset: 'open', undo: [undoRule] },
      mcpServers: { git: { command: process.execPath, args: [fixture('scripted-server.mjs'), script] } },
    });
    await home.program(`import { create_issue } from '@codemode/servers/git'; await create_issue({ title: 'a' });`);
    const undone = await undo(home, '--yes');
    expect(undone.steps[0]).toMatchObject({ inverse: { tool: 'git/close_issue', arguments: { number: 7 } } });
    expect(outcomes(undone)).toEqual(['1 undone']);
  });

  test('undoes the calls of scripts that the run ran, behind those that came after', async () => {
    using home = new ScriptsHome(open);
    await home.have({ writes: `import { write } from '@codemode/servers/ledger'; await write({ text: 'inner' });` });
    await home.program(`import { write } from '@codemode/servers/ledger';
import { writes } from '@codemode/scripts';
await write({ text: 'first' }); await writes(); await write({ text: 'last' });`);
    const { stdout } = await home.run(['--config', home.config, 'runs', 'undo', 'last', '--yes']);
    expect(stdout.split('\n').slice(3, 6)).toEqual([3, 1.1, 1].map((call) => `undone: ${call} ledger/write`));
    expect(home.lines.slice(3)).toEqual(['erase last', 'erase inner', 'erase first']);
  });
});

describe('what is recorded of undoing', () => {
  test('a call whose server died while it was undone is not undone again', async () => {
    using home = new ScriptsHome(open);
    await home.program(`import { write } from '@codemode/servers/ledger'; await write({ text: 'one' });`);
    const crashing = home.write('crashing.config.json', {
      ...open,
      mcpServers: {
        ledger: {
          ...{ command: process.execPath, args: [fixture('ledger-server.mjs'), home.ledger] },
          env: { LEDGER_CRASH: home.path('crashed') },
        },
      },
    });
    const { stdout, status } = await home.run(['--config', crashing, 'runs', 'undo', 'last', '--yes', '--json']);
    expect({ status, done: outcomes(JSON.parse(stdout) as Undone) }).toEqual({ status: 1, done: ['1 unknown'] });
    const next = await undo(home, '--yes');
    expect(next).toMatchObject({
      done: [],
      steps: [{ state: 'impossible', why: expect.stringContaining('the outcome is unknown') }],
    });
    expect(home.lines).toEqual(['write one', 'erase one']);
  });

  test('after the host was killed in a call, its outcome is unknown and the others are undone', async () => {
    using home = new ScriptsHome(open);
    await home.program(THREE);
    const slow = home.write('slow.config.json', {
      ...open,
      mcpServers: {
        ledger: {
          ...{ command: process.execPath, args: [fixture('ledger-server.mjs'), home.ledger] },
          env: { LEDGER_HANGS: 'two' },
        },
      },
    });
    const host = spawn(process.execPath, [CODEMODE, '--config', slow, 'runs', 'undo', 'last', '--yes'], {
      cwd: home.folder,
      env: { ...home.served.environment, HOME: home.folder },
      stdio: 'ignore',
    });
    const ended = once(host, 'exit');
    await until(() => home.lines.at(-1) === 'erase two');
    host.kill('SIGKILL');
    await ended;
    const next = await undo(home, '--yes');
    expect({ states: states(next), done: outcomes(next), status: next.status }).toEqual({
      states: ['3 ledger/write undone', '2 ledger/write impossible', '1 ledger/write ready'],
      done: ['1 undone'],
      status: 0,
    });
    expect(next.steps[1]?.why).toContain('outcome is unknown');
    expect((await undo(home, '--yes')).done).toEqual([]);
    expect(home.lines.slice(3)).toEqual(['erase three', 'erase two', 'erase one']);
  });

  test('a state that somebody wrote without the key does not make a call be undone again', async () => {
    using home = new ScriptsHome(open);
    await home.program(`import { write } from '@codemode/servers/ledger'; await write({ text: 'one' });`);
    await undo(home, '--yes');
    const database = await Database.open(home.path('state'));
    database.prepare("UPDATE undone SET state = CAST('failed' AS BLOB)").run();
    database.close();
    expect(await undo(home, '--yes')).toMatchObject({ done: [], steps: [{ state: 'impossible' }] });
    expect(home.lines).toEqual(['write one', 'erase one']);
  });
});
