import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { displayWidth } from '../../../src/surfaces/cli/terminal/display-width.js';
import { Home } from '../../support/cli.js';
import { LedgerHome } from '../../support/ledger.js';
import { needsTerminal, onTerminal } from '../../support/terminal.js';
import { fixture } from '../../support/upstreams.js';

/** Everything that a terminal could obey: C0 and C1 controls but line ends, and bidi marks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
const STEERING = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
/** A screen that is cleared, a link, an 8-bit sequence, text that runs backwards, and a line that looks like ours. */
const HOSTILE =
  '\u001b[2J\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007\u009b31m\u202etxt.exe\r\ndecided:          by root';

interface ListedRun {
  readonly runId: string;
  readonly state: string;
  readonly caller: string;
  readonly durationMs: number | null;
  readonly program: string | null;
}

const LOOK = `// what it is for
import {
  look,
} from '@codemode/servers/ledger';

const seen = await look({ text: 'a' });
globalThis.__codemode_result__ = seen.did;`;
const WRITE = (text: string) => `import { write } from '@codemode/servers/ledger';
await write({ text: ${JSON.stringify(text)} }); // ${text.replace(/[\r\n]/g, ' ')}`;

describe('runs', () => {
  let home: LedgerHome;
  let runs: ListedRun[];
  beforeAll(async () => {
    home = new LedgerHome();
    await home.program(LOOK);
    await home.program(WRITE('first'));
    await home.program('throw new Error("no")');
    runs = await home.json<ListedRun[]>(['runs', '--json']);
  });
  afterAll(() => home[Symbol.dispose]());

  test('are listed with a line of the program, caller, duration and state', async () => {
    expect(runs.map(({ state, program }) => [state, program])).toEqual([
      ['failed', 'throw new Error("no")'],
      ['suspended', 'await write({ text: "first" }); // first'],
      ['succeeded', "const seen = await look({ text: 'a' });"],
    ]);
    const [failed, waiting, finished] = runs as [ListedRun, ListedRun, ListedRun];
    expect(finished.durationMs).toBeGreaterThan(0);
    expect(failed.durationMs).toBeGreaterThan(0);
    expect(waiting.durationMs).toBeNull();
    const { stdout } = await home.run(['runs']);
    const [, , , last] = stdout.split('\n');
    expect(last).toMatch(
      new RegExp(
        `^${finished.runId}  succeeded  \\d{4}-\\d\\d-\\d\\dT\\S+Z +[\\d.]+ m?s  ${finished.caller}  const seen = await look`,
      ),
    );
  });

  test('are listed with short ids in the width of the terminal', needsTerminal, async () => {
    for (const columns of [40, 120]) {
      const env = { COLUMNS: String(columns), NO_COLOR: '1' };
      const { stdout, status } = await onTerminal(home, ['runs'], '', { env });
      const lines = stdout.split('\r\n');
      expect(status).toBe(0);
      expect(lines[0]).toMatch(/^RUN +STATE/);
      expect(lines.at(-2)).toMatch(new RegExp(`^${(runs[2] as ListedRun).runId.slice(0, 8)}`));
      for (const line of lines.filter((each) => !each.startsWith('  waits for')))
        expect(displayWidth(line)).toBeLessThanOrEqual(columns);
    }
  });

  test('are found by a unique prefix and as last, by every command that takes one', async () => {
    const [newest, , oldest] = runs as [ListedRun, ListedRun, ListedRun];
    const prefix = oldest.runId.slice(0, 8);
    expect(await home.show(prefix)).toMatchObject({ runId: oldest.runId });
    expect(await home.show('last')).toMatchObject({ runId: newest.runId });
    expect(await home.resume(prefix)).toMatchObject({ runId: oldest.runId, state: 'succeeded' });
    const words = ['--config', home.config, 'replay'];
    expect(await home.json([...words, prefix, '--json'])).toMatchObject({ runId: oldest.runId, same: true });
    expect(await home.json([...words, 'last', '--json'])).toMatchObject({ runId: newest.runId });
    const audited = async (given: string) => {
      const { records } = await home.json<{ records: { runId: string }[] }>(['audit', '--json', '--run', given]);
      return new Set(records.map(({ runId }) => runId));
    };
    expect(await audited(prefix)).toEqual(new Set([oldest.runId]));
    expect((await audited('last')).size).toBe(1);
  });

  test('that a prefix does not tell apart are named, and a short prefix is refused', async () => {
    using crowd = new LedgerHome();
    await crowd.program('1');
    const { Database } = await import('../../../src/store/sqlite/database.js');
    const { SqliteRunStore } = await import('../../../src/store/sqlite/runs/runs.js');
    const database = await Database.open(crowd.path('state'));
    const store = new SqliteRunStore(database, new Uint8Array(32));
    const ids = ['abcd1111-1111-4111-8111-111111111111', 'abcd2222-2222-4222-8222-222222222222'];
    const about = { caller: 'c', profile: 'codemode', setting: 's', codeDigest: 'd', createdAtMs: 1, title: undefined };
    const end = {
      ...about,
      state: 'succeeded',
      responseJson: 'null',
      recordingJson: undefined,
      durationMs: 1,
    } as const;
    store.end(
      ids.map((id) => ({ ...end, id })),
      1,
    );
    database.close();
    expect(await crowd.run(['runs', 'show', 'abcd'])).toEqual({
      status: 2,
      stdout: '',
      stderr: `codemode: "abcd" matches several runs: ${ids.join(', ')}; give more characters, or see: codemode runs\n`,
    });
    expect(await crowd.run(['runs', 'show', 'abcd2'])).toMatchObject({ status: 0 });
    expect((await crowd.run(['runs', 'cancel', 'abc'])).stderr).toBe(
      'codemode: "abc" is too short for the id of a run; give at least 4 characters of it, or last\n',
    );
    expect((await crowd.run(['runs', 'show', 'ffffffff'])).stderr).toBe(
      'codemode: there is no run "ffffffff"; list them with: codemode runs\n',
    );
  });
});

describe('approvals', () => {
  test('are decided by a unique prefix of 4 characters or more', async () => {
    using home = new LedgerHome();
    const { runId = '' } = await home.program(WRITE('one'));
    const [approval] = await home.pending();
    const id = approval?.id ?? '';
    expect((await home.decide('approve', id.slice(0, 3))).stderr).toMatch(/too short for the id of an approval/);
    expect(await home.decide('approve', id.slice(0, 6))).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(`^approved: ${id}\n`),
    });
    // For `resume`, last is the newest run that is suspended.
    expect(await home.program('globalThis.__codemode_result__ = 1')).toMatchObject({ result: 1 });
    expect(await home.resume('last')).toMatchObject({ runId, state: 'succeeded' });
    expect(home.lines).toEqual(['write one']);
  });

  test('last decides nothing where no terminal shows what it is, not even with the secret', async () => {
    using home = new LedgerHome();
    await home.program(WRITE('one'));
    expect(await home.decide('approve', 'last')).toEqual({
      status: 2,
      stdout: '',
      stderr:
        'codemode: last is taken for a decision only on a terminal, which shows what it is; give the id, as codemode approvals lists it\n',
    });
    expect((await home.pending()).map(({ state }) => state)).toEqual(['PENDING']);
  });

  test('last is shown on a terminal, and decided only after a yes', needsTerminal, async () => {
    using home = new LedgerHome();
    await home.program(WRITE('one'));
    const no = await onTerminal(home, ['approvals', 'approve', 'last'], '\n');
    expect(no.stdout).toContain('ledger/write');
    expect(no.stdout).toContain('"text": "one"');
    expect(no.stdout).toContain('Approve this call? [y/N]');
    expect(no.status).toBe(1);
    expect((await home.pending()).length).toBe(1);
    const yes = await onTerminal(home, ['approvals', 'approve', 'last'], 'y\n');
    expect(yes.status).toBe(0);
    expect(await home.pending()).toEqual([]);
    const none = await onTerminal(home, ['approvals', 'deny', 'last'], 'y\n');
    expect(none.stdout).toContain('there is no approval yet');
  });

  test('show no escape codes, whatever is in arguments, code and reasons', async () => {
    using home = new LedgerHome();
    await home.program(WRITE(HOSTILE));
    const [approval] = await home.pending();
    const id = approval?.id ?? '';
    for (const words of [
      ['approvals'],
      ['approvals', 'show', id],
      ['approvals', 'show', 'last'],
      ['runs'],
      ['runs', 'show', 'last'],
      ['audit'],
    ]) {
      const { stdout, stderr } = await home.run(words, { env: { FORCE_COLOR: '0' } });
      expect({ words, stdout: STEERING.exec(stdout + stderr) }).toEqual({ words, stdout: null });
    }
    const { stdout } = await home.run(['approvals', 'show', id]);
    // What looks like a line of ours stands indented below its own title, or inside a JSON string.
    expect(stdout).not.toMatch(/^decided:/m);
    expect(stdout).toContain('\\u001b[2J');
    expect(stdout).toContain('\\u202etxt.exe');
    await home.decide('deny', id, '--reason', HOSTILE);
    const decided = await home.run(['approvals', 'show', id]);
    expect(decided.stdout).not.toMatch(STEERING);
    expect(decided.stdout.match(/^decided:/gm)).toHaveLength(1);
  });

  test('a run is shown in a few lines on a terminal, and as JSON with --json', needsTerminal, async () => {
    using home = new LedgerHome();
    await home.program(WRITE(HOSTILE));
    const [approval] = await home.pending();
    const waiting = await onTerminal(home, ['runs', 'show', 'last'], '', { env: { NO_COLOR: '1' } });
    expect(waiting.stdout).toMatch(/^[\w-]{36} {2}suspended\r?$/m);
    expect(waiting.stdout).toContain(`approval: ledger/write pending (${approval?.id})`);
    expect(waiting.stdout).toContain(`Decide with: codemode approvals approve ${approval?.id}`);
    expect(waiting.stdout.replaceAll('\r\n', '\n')).not.toMatch(STEERING);
    const asJson = await onTerminal(home, ['runs', 'show', 'last', '--json'], '');
    expect(JSON.parse(asJson.stdout)).toMatchObject({ state: 'suspended', approvals: [{ id: approval?.id }] });
    const cancelled = await onTerminal(home, ['runs', 'cancel', 'last'], '', { env: { NO_COLOR: '1' } });
    expect(cancelled.stdout).toMatch(/^[\w-]{36} {2}cancelled\r?$/m);
  });

  test('show styles on a terminal as styles, not as text', needsTerminal, async () => {
    using home = new LedgerHome();
    await home.program(WRITE('x'));
    const { stdout } = await onTerminal(home, ['approvals', 'show', 'last'], '');
    expect(stdout).toContain('\u001b[1mledger/write\u001b[0m');
    expect(stdout).not.toContain('\\u001b');
  });
});

describe('servers and tools', () => {
  /** A server whose names and descriptions are hostile, and long. */
  const hostileServer = `
    import readline from 'node:readline';
    const bad = ${JSON.stringify(HOSTILE)};
    const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
    const inputSchema = { type: 'object', properties: {} };
    const tools = [
      { name: 'plain', description: 'word '.repeat(80), inputSchema },
      { name: 'bad' + bad, description: bad + ' 世界'.repeat(60), inputSchema },
    ];
    readline.createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (method === 'initialize') answer(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x' + bad, version: bad } });
      else if (method === 'tools/list') answer(id, { tools });
      else if (id !== undefined) answer(id, {});
    }).on('close', () => process.exit(0));`;
  let home: Home;
  beforeAll(() => {
    home = new Home();
    const file = home.write('hostile.mjs', hostileServer);
    home.write('codemode.config.yaml', {
      mcpServers: {
        hostile: { command: process.execPath, args: [file] },
        everyday: { command: process.execPath, args: [fixture('everyday-server.mjs')] },
        dead: { command: process.execPath, args: ['-e', `console.error(${JSON.stringify(HOSTILE)}); process.exit(3)`] },
      },
    });
  });
  afterAll(() => home[Symbol.dispose]());

  test.each([[['servers']], [['tools']], [['tools', '--detail', 'full']]])(
    'codemode %j prints no escape codes and no line of the server’s own',
    async (words) => {
      const { stdout, stderr } = await home.run(words);
      expect(STEERING.exec(stdout + stderr)).toBeNull();
      expect(stdout + stderr).not.toMatch(/^decided:/m);
      expect(stdout).toContain('hostile');
    },
  );

  test.each([40, 100])(
    'tools fit a terminal of %d columns, and are whole in a pipe',
    needsTerminal,
    async (columns) => {
      const env = { COLUMNS: String(columns), NO_COLOR: '1' };
      const { stdout } = await onTerminal(home, [], '', { env, line: '$PROGRAM tools 2>/dev/null' });
      const lines = stdout.split('\r\n').filter((line) => /^(hostile|everyday)\//.test(line));
      expect(lines.length).toBeGreaterThan(10);
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
      expect(stdout).toMatch(/word w[ord ]*…/);
      const piped = await home.run(['tools', '--server', 'hostile'], { env: { COLUMNS: String(columns) } });
      expect(piped.stdout).toContain('word '.repeat(80).trim());
    },
  );

  test(
    'colours are used in a pipe with FORCE_COLOR=1, and never with FORCE_COLOR=0 or NO_COLOR',
    needsTerminal,
    async () => {
      expect((await home.run(['servers'])).stdout).not.toContain('\u001b[');
      expect((await home.run(['servers'], { env: { FORCE_COLOR: '1' } })).stdout).toContain('\u001b[32mready');
      expect((await home.run(['servers', '--json'], { env: { FORCE_COLOR: '1' } })).stdout).not.toContain('\u001b');
      for (const env of [{ FORCE_COLOR: '0' }, { NO_COLOR: '1' }] as Record<string, string>[]) {
        const { stdout } = await onTerminal(home, [], '', { env, line: '$PROGRAM servers 2>/dev/null' });
        expect(stdout).toMatch(/^ready/m);
        expect(stdout).not.toContain('\u001b[');
      }
      const width = { COLUMNS: '200' };
      expect((await onTerminal(home, [], '', { env: width, line: '$PROGRAM servers 2>/dev/null' })).stdout).toContain(
        '\u001b[32mready',
      );
    },
  );
});

test('stored scripts are listed in the width of the terminal', needsTerminal, async () => {
  using home = new Home();
  const file = home.write('p.ts', 'export {};');
  const about = 'says a lot of things that nobody reads to the end '.repeat(3).trim();
  await home.run(['scripts', 'add', 'report', file, '--no-check', '--description', about]);
  const { stdout } = await onTerminal(home, ['scripts', 'list'], '', { env: { COLUMNS: '60', NO_COLOR: '1' } });
  for (const line of stdout.split('\r\n')) expect(displayWidth(line)).toBeLessThanOrEqual(60);
  expect(stdout).toMatch(/^report .*…/m);
  expect((await home.run(['scripts'])).stdout).toContain(about);
});

test('runs that demo, measure and doctor made to measure themselves are listed with --all only', async () => {
  using home = new LedgerHome();
  await home.program('globalThis.__codemode_result__ = "mine";');
  await home.run(['doctor']);
  const callers = async (...words: string[]) =>
    (JSON.parse((await home.run(['runs', '--json', ...words])).stdout) as { caller: string }[]).map(
      ({ caller }) => caller,
    );
  expect(await callers()).toEqual(['command line']);
  expect(await callers('--all')).toEqual(['doctor', 'command line']);
  expect(await home.show('last')).toMatchObject({ caller: 'command line' });
});
