import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SHARED_GO } from '../../support/go.js';
import { needs } from '../../support/needs.js';
import { openStdio } from '../../support/program.js';
import { ScriptsHome } from '../../support/scripts.js';
import { fixture } from '../../support/upstreams.js';

const PROGRAM = `import { look } from '@codemode/servers/ledger';
const month = '2026-11';
const { lines } = await look({ text: month, delayMs: 0 });
globalThis.__codemode_result__ = { month, lines };`;

/** The same server, which says something else of its tools. */
function changedConfig(home: ScriptsHome): string {
  return home.write('changed.config.json', {
    approvals: { grace: '50ms' },
    mcpServers: {
      ledger: {
        command: process.execPath,
        args: [fixture('ledger-server.mjs'), home.ledger],
        env: { LEDGER_WORDS: 'does something else now' },
      },
    },
  });
}

async function keep(home: ScriptsHome, name = 'monthly-report', ...flags: string[]) {
  await home.program(PROGRAM);
  return home.run(['scripts', 'add', '--from-run', 'last', '--name', name, '--input', 'month=2026-11', ...flags]);
}

describe('a run that worked', () => {
  test('becomes a script: its input, what it returned, the tools it called', async () => {
    using home = new ScriptsHome();
    await home.program(PROGRAM);
    const [{ runId = '' } = {}] = await home.json<{ runId: string }[]>(['runs', '--json']);
    const words = ['scripts', 'add', '--from-run', runId.slice(0, 8), '--name', 'monthly-report', '--json'];
    const planned = await home.json<object>([...words, '--dry-run']);
    expect(planned).toMatchObject({
      stored: false,
      replaced: [],
      proposed: [
        { name: 'text', value: '2026-11', line: 2 },
        { name: 'delayMs', value: 0, line: 3 },
      ],
    });
    expect(await home.json(['scripts', '--json'])).toEqual([]);
    const stored = await home.json<object>([...words, '--input', 'month=2026-11', '--description', 'Counts a month.']);
    expect(stored).toEqual({
      stored: true,
      version: 1,
      replaced: [{ name: 'month', value: '2026-11', lines: [2] }],
      proposed: [{ name: 'delayMs', value: 0, line: 3 }],
      script: {
        name: 'monthly-report',
        description: 'Counts a month.',
        profile: 'codemode',
        language: 'typescript',
        source: `import { input } from '@codemode/input';\n${PROGRAM.replace("'2026-11'", 'input.month')}`,
        inputSchema: {
          type: 'object',
          properties: { month: { type: 'string', examples: ['2026-11'] } },
          required: ['month'],
          additionalProperties: false,
        },
        outputSchema: {
          type: 'object',
          properties: { month: { type: 'string' }, lines: { type: 'number' } },
          required: ['month', 'lines'],
        },
        pins: [{ server: 'ledger', tool: 'look', digest: expect.stringMatching(/^[0-9a-f]{64}$/) }],
        fromRun: runId,
      },
    });
    const ran = await home.script('monthly-report', '--input', '{ "month": "2026-12" }');
    expect(JSON.parse(ran.stdout)).toMatchObject({ result: { month: '2026-12', lines: 2 } });
    expect(await home.script('monthly-report')).toMatchObject({ status: 2, stderr: expect.stringContaining('/month') });
    expect(home.lines).toEqual(['look 2026-11', 'look 2026-12']);
  });

  test('is kept in versions, of which earlier ones can be shown', async () => {
    using home = new ScriptsHome();
    expect((await keep(home)).stdout).toMatch(/^stored: monthly-report \(version 1\), from run [0-9a-f-]{36}\n/);
    expect(await keep(home)).toMatchObject({ status: 2, stderr: expect.stringContaining('--replace') });
    expect((await keep(home, 'monthly-report', '--replace', '--description', 'new')).stdout).toContain('(version 2)');
    const shown = (name: string) =>
      home.json<{ version: number; description: string }>(['scripts', 'show', name, '--json']);
    expect(await shown('monthly-report')).toMatchObject({ version: 2, description: 'new' });
    await home.run(['scripts', 'add', '--from-run', 'last', '--name', 'monthly-report', '--replace']);
    expect(await shown('monthly-report')).toMatchObject({ version: 3, description: 'new' });
    expect(await shown('monthly-report@1')).toMatchObject({ version: 1, description: '' });
    const missing = await home.run(['scripts', 'show', 'monthly-report@7']);
    expect(missing).toMatchObject({ status: 2, stderr: expect.stringContaining('kept are: 3, 2, 1') });
  });

  test('is refused where it failed, where a value is not in it, and where a name would do harm', async () => {
    using home = new ScriptsHome();
    await home.program(PROGRAM);
    const add = (...flags: string[]) => home.run(['scripts', 'add', '--from-run', 'last', '--name', 'kept', ...flags]);
    const refusals: [flags: string[], says: string][] = [
      [['--input', 'month=2026-10'], 'is not in the program'],
      [['--input', '__proto__=2026-11'], 'cannot be the name of an input'],
      [['--input', 'constructor=2026-11'], 'cannot be the name of an input'],
      [['--input', 'month'], 'expected NAME=VALUE'],
      [['some.ts'], 'a file and --from-run were both given'],
    ];
    for (const [flags, says] of refusals)
      expect(await add(...(says.startsWith('a file') ? ['kept', ...flags] : flags))).toMatchObject({
        status: 2,
        stderr: expect.stringContaining(says),
      });
    await home.program(`throw new Error('no')`);
    expect(await add()).toMatchObject({ status: 2, stderr: expect.stringContaining('it failed') });
    expect(await home.json(['scripts', '--json'])).toEqual([]);
  });
});

describe('a kept program whose tools have changed', () => {
  test('is not run before a person has decided; once accepted it runs without a question', async () => {
    using home = new ScriptsHome();
    await keep(home);
    const config = changedConfig(home);
    const run = () => home.run(['--config', config, 'scripts', 'run', 'monthly-report', '--input', '{"month":"x"}']);
    expect(await run()).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(/was not run: .*ledger\/look \(changed\).*codemode scripts accept monthly-report/s),
    });
    expect(home.lines).toEqual(['look 2026-11']);
    const [approval] = await home.pending();
    expect(approval).toMatchObject({
      serverId: 'codemode/scripts',
      toolName: 'run_changed',
      arguments: {
        name: 'monthly-report',
        version: 1,
        changes: [expect.stringMatching(/^ledger\/look: changed, its definition is now sha256 [0-9a-f]{64}$/)],
      },
    });
    await home.decide('approve', approval?.id ?? '');
    expect(await run()).toMatchObject({ status: 0 });
    // One decision is for one run.
    expect(await run()).toMatchObject({ status: 2 });
    const accepted = await home.run(['--config', config, 'scripts', 'accept', 'monthly-report']);
    expect(accepted).toMatchObject({
      status: 0,
      stdout: 'accepted: monthly-report (version 2)\n  ledger/look: changed\n',
    });
    expect(await run()).toMatchObject({ status: 0 });
    expect(home.lines).toEqual(['look 2026-11', 'look x', 'look x']);
  });

  test('suspends the program that calls it until a person has decided', async () => {
    using home = new ScriptsHome();
    await keep(home);
    const config = changedConfig(home);
    const source = `import { monthly_report } from '@codemode/scripts';
globalThis.__codemode_result__ = await monthly_report({ month: 'n' });`;
    const { status, stdout } = await home.run(['--config', config, 'run', '-'], { input: source });
    const { runId } = JSON.parse(stdout) as { runId: string };
    expect({ status, lines: home.lines }).toEqual({ status: 3, lines: ['look 2026-11'] });
    const [approval] = await home.pending();
    await home.decide('approve', approval?.id ?? '');
    expect(await home.json(['--config', config, 'runs', 'resume', runId])).toMatchObject({
      state: 'succeeded',
      response: { result: { month: 'n', lines: 2 } },
    });
  });
});

describe('kept programs in programs of agents', () => {
  test('are functions, are found by search, and their calls are nested', async () => {
    using home = new ScriptsHome({
      hooks: [{ command: process.execPath, args: ['-e', HOOK], timeout: '60s' }],
    });
    await keep(home, 'monthly-report', '--description', 'Counts the ledger lines of a month.');
    const { result, toolTrace } = await home.program(`import { searchTools } from '@codemode/discovery';
import { look } from '@codemode/servers/ledger';
import { listScripts, monthly_report } from '@codemode/scripts';
await look({ text: 'outer' });
const found = (await searchTools('count the lines of a month')).results;
const only = (await searchTools('month', { serverId: '@codemode/scripts', detail: 'name' })).results;
const wrong = await monthly_report({ month: 7 }).catch((error) => error.message);
globalThis.__codemode_result__ = { value: await monthly_report({ month: 'm' }), found: found.at(-1), only, wrong, list: await listScripts() };`);
    const named = { serverId: '@codemode/scripts', module: '@codemode/scripts', toolName: 'monthly-report' };
    expect(result).toMatchObject({
      value: { month: 'm', lines: 3 },
      found: {
        ...named,
        exportName: 'monthly_report',
        signature: 'monthly_report({ month: string }): { month: string, lines: number }',
      },
      only: [{ ...named, exportName: 'monthly_report' }],
      wrong: expect.stringContaining('/month'),
      list: [{ name: 'monthly-report', function: 'monthly_report', version: 1 }],
    });
    expect(toolTrace).toHaveLength(2);
    const events = readFileSync(home.path('hooks.txt'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { callId: string; parentId?: string; arguments: { text: string } });
    const [outer, inner] = events.slice(-2);
    expect([outer?.arguments.text, inner?.arguments.text]).toEqual(['outer', 'm']);
    expect(outer).not.toHaveProperty('parentId');
    // Behind the two searches and the refused call.
    expect(inner?.parentId).toMatch(/^[0-9a-f-]{36}\/5$/);
    expect(inner?.callId).not.toBe(inner?.parentId);
  });

  test('are saved by an agent where a person allows it, as what its last run was', async () => {
    using home = new ScriptsHome();
    await home.program(PROGRAM);
    const saving = await home.program(`import { save } from '@codemode/scripts';
globalThis.__codemode_result__ = await save({ name: 'by-agent', description: 'd', inputs: { month: '2026-11' } });`);
    expect(saving.status).toBe(3);
    const [approval] = await home.pending();
    expect(approval).toMatchObject({
      serverId: 'codemode/scripts',
      toolName: 'save',
      arguments: { name: 'by-agent', savedBy: 'command line', source: expect.stringContaining('input.month') },
    });
    expect(await home.json(['scripts', '--json'])).toEqual([]);
    // A run in between is not the one that was asked about.
    await home.program('globalThis.__codemode_result__ = 1');
    await home.decide('approve', approval?.id ?? '');
    expect(await home.resume(saving.runId ?? '')).toMatchObject({
      state: 'succeeded',
      response: { result: { name: 'by-agent', version: 1 } },
    });
    expect(await home.json(['scripts', '--json'])).toMatchObject([{ name: 'by-agent', savedBy: 'command line' }]);
    const ran = await home.script('by-agent', '--input', '{ "month": "z" }');
    expect(JSON.parse(ran.stdout)).toMatchObject({ result: { month: 'z' } });
  });

  test.each([
    ['deny', 'denies it', []],
    ['allow', undefined, ['mine']],
  ])('are saved as a rule for @codemode/scripts/save says: %s', async (decision, says, names) => {
    using home = new ScriptsHome({ policy: { rules: [{ tools: '@codemode/scripts/save', decision }] } });
    await home.program(PROGRAM);
    const { result } = await home.program(`import { save } from '@codemode/scripts';
globalThis.__codemode_result__ = await save({ name: 'mine' }).then(() => undefined, (error) => error.message) ?? null;`);
    expect(result).toEqual(says === undefined ? null : expect.stringContaining(says));
    expect((await home.json<{ name: string }[]>(['scripts', '--json'])).map(({ name }) => name)).toEqual(names);
  });
});

interface ProgramInProfile {
  /** What the agent has read about the kept program when it connected. */
  readonly told: RegExp;
  readonly input: Record<string, unknown>;
  /** What the answer has: the value, and the hit of a search. */
  readonly answers: (lines: number) => readonly RegExp[];
}

/** Programs that call the kept program by its function and look for it, in the way of each contract. */
const SIGNED = /onthly_?[rR]eport\(\{ month: string \}\): \{ month: string, lines: number \}/;
const IN_PROFILES: Readonly<Record<string, readonly [name: string, program: ProgramInProfile][]>> = {
  codemode: [
    [
      'codemode_run',
      {
        told: SIGNED,
        input: {
          code: `import { searchTools } from '@codemode/discovery';
import { monthly_report } from '@codemode/scripts';
const { month, lines } = await monthly_report({ month: 'codemode' });
globalThis.__codemode_result__ = [month, lines, (await searchTools('count lines of a month')).results.at(-1)];`,
        },
        answers: (lines: number) => [new RegExp(`codemode",${lines}`), SIGNED],
      },
    ],
  ],
  unified: [
    [
      'execute_code',
      {
        told: /export function monthlyReport\(input: \{[^}]*month: string.*Promise<\{ month: string; lines: number \}>/s,
        input: {
          code: `const { month, lines } = await mcp.scripts.monthlyReport('unified');
return [month, lines, Object.keys(mcp.scripts)];`,
          capabilities: ['mcp:ledger', 'mcp:scripts'],
        },
        answers: (lines: number) => [new RegExp(`unified",${lines}`), /"hidden","monthlyReport"/, /"logs":\[\]/],
      },
    ],
  ],
  code_execution: [
    [
      'code_execution',
      {
        told: /- scripts \(2\).*monthly-report\(month\)/,
        input: {
          code: `var res = call_tool('scripts', 'monthly-report', { month: 'code_execution' }).result;
return [res.month, res.lines, call_tool('scripts', 'monthy-report', {}).error];`,
        },
        answers: (lines: number) => [new RegExp(`code_execution",${lines}`), /Did you mean .{2}monthly-report/],
      },
    ],
  ],
  runner: [
    [
      'run_python',
      {
        told: /scripts \(2\).*monthly_report\(month\)/,
        input: {
          code: `from servers.scripts import monthly_report
from client.mcp_client import data_of
data = data_of(await monthly_report(month='runner'))
result = [data['month'], data['lines'], await catalog.search_tools('count lines of a month')]`,
        },
        answers: (lines: number) => [new RegExp(`runner",${lines}`), SIGNED],
      },
    ],
    [
      'run_node',
      {
        told: /scripts \(2\).*monthlyReport\(month\)/,
        input: {
          code: `import { monthlyReport } from './servers/scripts/index.js';
const { structuredContent: data } = await monthlyReport({ month: 'runner' });
globalThis.result = [data.month, data.lines, await catalog.searchTools('count lines of a month')];`,
        },
        answers: (lines: number) => [new RegExp(`runner",${lines}`), SIGNED],
      },
    ],
  ],
  go: [
    [
      'execute_go_code',
      {
        told: /var monthlyReport func\(ctx context.Context, input MonthlyReportInput\) \(MonthlyReportOutput, error\)/,
        input: {
          code: `data, err := monthlyReport(ctx, MonthlyReportInput{Month: "go"})
if err != nil { return err }
found, err := searchTools(ctx, "count lines of a month")
fmt.Println(data.Month, data.Lines, found)`,
        },
        answers: (lines: number) => [new RegExp(`go ${lines} `), /scripts monthly-report monthlyReport/],
      },
    ],
  ],
};

describe('a kept program', needs('bubblewrap', 'python3', 'go'), () => {
  const home = new ScriptsHome({
    ...SHARED_GO,
    scripts: { expose: ['monthly-report'] },
    policy: { rules: [{ tools: 'ledger/*', decision: 'allow' }] },
  });
  afterAll(() => home[Symbol.dispose]());
  beforeAll(async () => {
    await keep(home, 'monthly-report', '--description', 'Counts the ledger lines of a month.');
    await home.have({ hidden: '1' });
  });

  describe.each(Object.entries(IN_PROFILES))('in profile %s', (profile, programs) => {
    let agent: Awaited<ReturnType<typeof openStdio>>;
    beforeAll(async () => {
      agent = await openStdio(home.served, 'legacy', {}, ['--profile', profile]);
    });
    afterAll(() => agent?.[Symbol.asyncDispose]());

    test('is a tool of its own for clients, with its schema', async () => {
      const { tools } = await agent.client.listTools();
      expect(tools.filter(({ name }) => name.startsWith('codemode_script_'))).toMatchObject([
        {
          name: 'codemode_script_monthly-report',
          description: 'Counts the ledger lines of a month.',
          inputSchema: { type: 'object', properties: { month: { type: 'string' } }, required: ['month'] },
        },
      ]);
      const call = (input: object) =>
        agent.client.callTool({ name: 'codemode_script_monthly-report', arguments: { ...input } });
      const before = home.lines.length;
      expect(await call({ month: profile })).toMatchObject({
        structuredContent: { month: profile, lines: before + 1 },
      });
      expect(await call({ mnth: profile })).toMatchObject({
        isError: true,
        structuredContent: { error: expect.stringContaining('month') },
      });
      expect(home.lines.slice(before)).toEqual([`look ${profile}`]);
    });

    test.each(programs)(
      'is a function with types for programs of %s, and is found by search',
      async (name, program) => {
        const { tools } = await agent.client.listTools();
        const told = `${agent.client.getInstructions()}\n${tools.map(({ description }) => description).join('\n')}`;
        expect(told).toMatch(program.told);
        const before = home.lines.length;
        const { content, structuredContent } = await agent.client.callTool({ name, arguments: program.input });
        const said = JSON.stringify(structuredContent ?? content);
        for (const part of program.answers(before + 1)) expect(said).toMatch(part);
        expect(home.lines.slice(before)).toEqual([`look ${profile}`]);
      },
    );
  });

  test('has its calls in the record of each run, under the call that ran it', async () => {
    const nested = await home.nested();
    const ran = { name: 'monthly-report', byCall: expect.any(Number), calls: ['ledger/look'] };
    for (const [profile, programs] of Object.entries(IN_PROFILES))
      expect(nested.get(profile)).toEqual(programs.map(() => ran));
  });
});

/** Appends every event to a file beside the configuration, which is where a hook runs. */
const HOOK = `process.stdin.on('data', (data) => require('fs').appendFileSync('hooks.txt', JSON.stringify(JSON.parse(data)) + '\\n'))`;

test('an exposed program with a large result gives its beginning, and has not failed', async () => {
  using home = new ScriptsHome({
    ...{ scripts: { expose: 'all' }, response: { maxTokens: 1_000 }, policy: { preset: 'open' } },
  });
  const rows = `Array.from({ length: 3000 }, (_, id) => ({ id, city: 'Berlin' }))`;
  await home.have({
    large: `import { write } from '@codemode/servers/ledger';
await write({ text: 'done' }); globalThis.__codemode_result__ = ${rows};`,
  });
  for (const profile of ['codemode', 'code_execution']) {
    await using agent = await openStdio(home.served, 'legacy', {}, ['--profile', profile]);
    const called = await agent.client.callTool({ name: 'codemode_script_large', arguments: {} });
    const { result, note } = called.structuredContent as { result: object[]; note: string };
    expect([called.isError ?? false, result.slice(0, 2)]).toEqual([
      false,
      [0, 1].map((id) => ({ id, city: 'Berlin' })),
    ]);
    expect(note).toMatch(/^The result has \d+ bytes \(3000 rows of .*\), and .*: this is only its beginning\./);
    const load = /await load\(.*?\)/.exec(note)?.[0];
    // Only this contract has the module.
    expect(load !== undefined).toBe(profile === 'codemode');
    if (load === undefined) continue;
    const code = `import { load } from '@codemode/results'; globalThis.__codemode_result__ = (${load}).length;`;
    const more = await agent.client.callTool({ name: 'codemode_run', arguments: { code } });
    expect(more.structuredContent).toMatchObject({ result: 3000 });
  }
  expect(home.lines).toEqual(['write done', 'write done']);
});
