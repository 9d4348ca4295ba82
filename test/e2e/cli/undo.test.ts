import { describe, expect, test } from 'vitest';
import { Database } from '../../../src/store/sqlite/database.js';
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
    expect(planned.steps[0]?.why).toBe('no rule of policy.undo is for ledger/erase');
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

  test('stops where a server refuses, and continues there the next time', async () => {
    using home = new ScriptsHome(open);
    await home.program(PROGRAM);
    const failing = home.write('failing.config.json', {
      ...open,
      mcpServers: {
        ledger: {
          ...{ command: process.execPath, args: [fixture('ledger-server.mjs'), home.ledger] },
          env: { LEDGER_FAILS: 'one' },
        },
      },
    });
    const { status, stdout } = await home.run(['--config', failing, 'runs', 'undo', 'last', '--yes', '--json']);
    expect({ status, done: outcomes(JSON.parse(stdout) as Undone) }).toEqual({
      status: 1,
      done: ['3 undone', '1 failed'],
    });
    const next = await undo(home, '--yes');
    expect({ status: next.status, done: outcomes(next) }).toEqual({ status: 0, done: ['1 undone'] });
    expect(home.lines.slice(4)).toEqual(['erase two', 'erase one', 'erase one']);
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

  test('undoes the calls of scripts that the run ran, behind those that came after', async () => {
    using home = new ScriptsHome(open);
    await home.have({ writes: `import { write } from '@codemode/servers/ledger'; await write({ text: 'inner' });` });
    await home.program(`import { write } from '@codemode/servers/ledger';
import { writes } from '@codemode/scripts';
await write({ text: 'first' }); await writes(); await write({ text: 'last' });`);
    expect(outcomes(await undo(home, '--yes')).map((each) => each.split(' ')[1])).toEqual([
      'undone',
      'undone',
      'undone',
    ]);
    expect(home.lines.slice(3)).toEqual(['erase last', 'erase inner', 'erase first']);
  });
});

describe('what is recorded of undoing', () => {
  test('a call that was being undone when the process died is not undone again', async () => {
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
      steps: [{ state: 'impossible', why: expect.stringContaining('nobody knows') }],
    });
    expect(home.lines).toEqual(['write one', 'erase one']);
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
