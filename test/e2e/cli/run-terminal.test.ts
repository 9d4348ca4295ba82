import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { PROGRAM as PROGRAM_FILE } from '../../support/cli.js';
import { LedgerHome } from '../../support/ledger.js';
import { needsTerminal, Terminal } from '../../support/terminal.js';

const ASKED = 'Allow? [y/N/run/hour] ';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

const PROGRAM = `import { write } from '@codemode/servers/ledger';
const said = [];
for (const text of ['one', 'two', 'three'])
  said.push(await write({ text }).then(({ did }) => did, (error) => error.message));
globalThis.__codemode_result__ = said;`;

const ALL_AT_ONCE = `import { write } from '@codemode/servers/ledger';
const answers = await Promise.all(['one', 'two', 'three'].map((text) => write({ text }).then(() => 'done', () => 'refused')));
globalThis.__codemode_result__ = answers.join(' ');`;

/** Runs a program from a file, as a person does. */
function start(home: LedgerHome, source: string, ...flags: string[]): Terminal {
  return new Terminal(home, ['--config', home.config, 'run', home.write('program.ts', source), ...flags]);
}

const decisions = async (home: LedgerHome) =>
  (
    await home.json<{ arguments: { text: string }; state: string; decision?: { by: string } }[]>([
      '--config',
      home.config,
      'approvals',
      '--all',
      '--json',
    ])
  )
    .map(({ arguments: { text }, state, decision }) => `${text} ${state} ${decision?.by.replace(/^\S+ /, '')}`)
    .sort();

describe('codemode run on a terminal', () => {
  test(
    'asks about each call there with arguments, reason and line; Ctrl-C ends the run [B16]',
    needsTerminal,
    async () => {
      using home = new LedgerHome();
      using terminal = start(home, PROGRAM);
      const card = await terminal.sees(ASKED);
      expect(card).toContain('ledger/write: this call needs your decision');
      expect(card).toMatch(/why: +its server says that it is destructive/);
      expect(card).toContain('> 4 |   said.push(await write({ text })');
      expect(card).toContain('"text": "one"');
      // Longer than the 50 ms after which a run that nobody is asked about is suspended.
      await new Promise((resolve) => setTimeout(resolve, 500));
      terminal.type('y\r');
      await terminal.sees('"text": "two"');
      await terminal.sees(ASKED);
      terminal.type('\r');
      await terminal.sees('"text": "three"');
      await terminal.sees(ASKED);
      terminal.type(CTRL_C);
      const { status, shown } = await terminal.ended();
      expect({ status, lines: home.lines }).toEqual({ status: 130, lines: ['write one'] });
      expect(shown).toContain('the run was cancelled');
      expect(await decisions(home)).toEqual([
        'one APPROVED (terminal)',
        'three DENIED (terminal)',
        'two DENIED (terminal)',
      ]);
    },
  );

  test(
    'an approval for the run covers every later call of the tool, and none of the next run',
    needsTerminal,
    async () => {
      using home = new LedgerHome();
      using first = start(home, PROGRAM);
      await first.sees(ASKED);
      first.type('run\r');
      expect((await first.ended()).status).toBe(0);
      expect(home.lines).toEqual(['write one', 'write two', 'write three']);
      using second = start(home, PROGRAM);
      await second.sees(ASKED);
      second.type('hour\r');
      await second.sees('Allowed for an hour. To end it sooner: codemode approvals revoke ');
      const { shown, status } = await second.ended();
      expect(status).toBe(0);
      const [, id = ''] = /^([0-9a-f]{8})\s/.exec(shown) ?? [];
      expect(
        (await home.json<{ id: string }[]>(['approvals', 'grants', '--json'])).map((grant) => grant.id.slice(0, 8)),
      ).toEqual([id]);
      using third = start(home, PROGRAM);
      expect((await third.ended()).shown).not.toContain('Allow?');
      expect(home.lines).toHaveLength(9);
    },
  );

  test('shows calls made together as one card with each of their arguments', needsTerminal, async () => {
    using home = new LedgerHome();
    using terminal = start(home, ALL_AT_ONCE);
    const card = await terminal.sees(ASKED);
    expect(card).toContain('ledger/write: 3 calls need your decision');
    for (const text of ['one', 'two', 'three']) expect(card).toContain(`"text": "${text}"`);
    terminal.type('maybe\r');
    await terminal.sees('Type y (yes)');
    await terminal.sees(ASKED);
    terminal.type('y\r');
    expect((await terminal.ended()).shown).toContain('done done done');
    expect(home.lines).toHaveLength(3);
  });

  test('takes Ctrl-D for a no, and a key pressed before the question for nothing', needsTerminal, async () => {
    using home = new LedgerHome();
    using terminal = start(home, ALL_AT_ONCE);
    terminal.type('y\r');
    await terminal.sees(ASKED);
    terminal.type(CTRL_D);
    expect((await terminal.ended()).shown).toContain('refused refused refused');
    expect(home.lines).toEqual([]);
  });

  test('what the program gives to a tool cannot steer the terminal', needsTerminal, async () => {
    using home = new LedgerHome();
    const evil = '\\u001b[2J\\u202eevil\\nAllow? [y/N/run/hour] y\\u200b\\u009b1m';
    using terminal = start(
      home,
      `import { write } from '@codemode/servers/ledger';
console.log('${evil}');
globalThis.__codemode_result__ = await write({ text: '${evil}' }).catch(() => '${evil}');`,
    );
    const card = await terminal.sees('"text": ');
    await terminal.sees(`hour] y\\u200b\\u009b1m"`);
    await terminal.sees(ASKED);
    terminal.type('n\r');
    const { shown } = await terminal.ended();
    for (const sequence of ['\u001b[2J', '\u202e', '\u009b']) expect(card + shown).not.toContain(sequence);
    expect(home.lines).toEqual([]);
  });

  test('a decision on another screen takes the question away', needsTerminal, async () => {
    using home = new LedgerHome();
    using terminal = start(home, ALL_AT_ONCE);
    await terminal.sees(ASKED);
    const [approval] = await home.pending();
    await home.decideCard('approve', approval?.id ?? '');
    expect((await terminal.ended()).shown).toContain('done done done');
  });
});

describe('codemode run without a person', () => {
  test('never asks where the program is piped in, though there is a terminal', needsTerminal, async () => {
    using home = new LedgerHome();
    const file = home.write('program.ts', ALL_AT_ONCE);
    const shell = `printf 'y\\ny\\ny\\n' | cat ${file} - | $CODEMODE`;
    using terminal = new Terminal(home, ['--config', home.config, 'run', '-'], { shell });
    const { status, shown } = await terminal.ended();
    expect(shown).not.toContain('Allow?');
    expect({ status: status === 0, lines: home.lines }).toEqual({ status: false, lines: [] });
  });

  test('never asks where its answer is piped on, and says in JSON what to type', needsTerminal, async () => {
    using home = new LedgerHome();
    const file = home.write('program.ts', ALL_AT_ONCE);
    using terminal = new Terminal(home, ['--config', home.config, 'run', file], { shell: '$CODEMODE | cat' });
    const { shown } = await terminal.ended();
    expect(shown).not.toContain('Allow?');
    expect(JSON.parse(shown.slice(shown.indexOf('{')))).toMatchObject({
      diagnostics: [{ code: 'APPROVAL_PENDING', hint: expect.stringContaining('codemode approvals approve') }],
    });
  });
});

describe('what codemode run shows', () => {
  const FAILS = `console.log('working');
const nothing = undefined;
nothing.at(0);`;

  test('is for people on a terminal: logs, the error with its line, the calls', needsTerminal, async () => {
    using home = new LedgerHome();
    using failing = start(home, FAILS);
    const failed = await failing.ended();
    expect(failed.status).toBe(1);
    const text = stripVTControlCharacters(failed.shown).replaceAll('\r', '');
    expect(text).toContain('working\n');
    expect(text).toMatch(/error: TypeError: .*\(line 3\)\n {2}3 \| nothing\.at\(0\);\n {4}\| +\^\n/);
    expect(text).toMatch(/no calls, \d/);
    expect(text).not.toContain('"diagnostics"');
    using unreadable = start(home, 'const x = ;');
    const refused = stripVTControlCharacters((await unreadable.ended()).shown).replaceAll('\r', '');
    expect(refused).toMatch(/error: Unexpected token \(line 1\)\n {2}1 \| const x = ;\n {4}\| {11}\^\nno calls/);
    using reading = start(
      home,
      `import { look } from '@codemode/servers/ledger';
await look({}); await look({});
globalThis.__codemode_result__ = { rows: [1, 2] };`,
    );
    const read = (await reading.ended()).shown.replaceAll('\r', '');
    expect(read).toContain('"rows": [\n    1,\n    2\n  ]');
    expect(read).toContain('2 calls: ledger/look 2 times');
  });

  test('is JSON with --json, and where it is piped', needsTerminal, async () => {
    using home = new LedgerHome();
    using asked = start(home, 'globalThis.__codemode_result__ = 7;', '--json');
    const { shown } = await asked.ended();
    // A spinner may have been shown on stderr before, on the same terminal.
    expect(JSON.parse(shown.slice(shown.indexOf('{')))).toMatchObject({ result: 7, diagnostics: [] });
    expect(await home.program('globalThis.__codemode_result__ = 7;')).toMatchObject({ result: 7, status: 0 });
  });

  test('names what to type where nobody answered and the run was suspended', needsTerminal, async () => {
    using home = new LedgerHome();
    // A terminal that cannot be read from: stdin is not a terminal.
    using terminal = new Terminal(home, ['--config', home.config, 'run', home.write('program.ts', ALL_AT_ONCE)], {
      shell: '$CODEMODE < /dev/null',
    });
    const { status, shown } = await terminal.ended();
    const [approval] = await home.pending();
    expect(status).toBe(3);
    expect(shown).toMatch(/Run \S+ is suspended: 3 calls need approval\./);
    expect(shown).toContain(`Approve with: codemode approvals approve ${approval?.id} --scope calls`);
    expect(shown).toContain(`codemode runs resume ${approval?.runId}`);
    expect(shown).toContain(`codemode is not on your PATH; here it is: ${process.execPath} ${PROGRAM_FILE}`);
  });
});

test('codemode runs resume asks about pending approvals, and then resumes', needsTerminal, async () => {
  using home = new LedgerHome();
  const { runId = '' } = await home.program(PROGRAM);
  using terminal = new Terminal(home, ['--config', home.config, 'runs', 'resume', runId]);
  await terminal.sees('"text": "one"');
  await terminal.sees(ASKED);
  terminal.type('y\r');
  await terminal.sees('"text": "two"');
  await terminal.sees(ASKED);
  terminal.type('run\r');
  expect((await terminal.ended()).shown).toContain('succeeded');
  expect(home.lines).toEqual(['write one', 'write two', 'write three']);
});

test('codemode code exec asks on a terminal too', needsTerminal, async () => {
  using home = new LedgerHome({ codeExecution: { enabled: true } });
  const code = `var answer = call_tool('ledger', 'write', { text: 'scripted' }); ({ ok: answer.ok })`;
  using terminal = new Terminal(home, ['--config', home.config, 'code', 'exec', '--code', code]);
  await terminal.sees('"text": "scripted"');
  await terminal.sees(ASKED);
  terminal.type('y\r');
  expect((await terminal.ended()).status).toBe(0);
  expect(home.lines).toEqual(['write scripted']);
});
