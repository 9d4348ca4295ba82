import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Home, openHome, openStdio, run, runProgram, startServe, until } from '../../support/program.js';
import { hung, slow, timed } from '../../support/slow-server.js';

/** A run in a session that waits for a server that hangs takes 10 s at least. */
const NO_WAIT_MS = 9_000;
/** `codemode run` waits for 30 s; starting it takes 5 on a loaded machine. */
const ONE_SHOT_WAIT_MS = 25_000;
const PLAIN = 'globalThis.__codemode_result__ = 6 * 7;';
const HELLO = `import { hello } from '@codemode/servers/fast'; globalThis.__codemode_result__ = await hello();`;

function programFile(home: Home, source: string, name = 'program.ts'): string {
  const file = join(home.work, name);
  writeFileSync(file, source);
  return file;
}

const STUCK = { mcpServers: { fast: slow(), stuck: hung() } };

// These are timed, and so run alone.
describe('a server that hangs, by the clock', () => {
  test('costs a run over MCP nothing where the program uses another server', async () => {
    using home = openHome(STUCK);
    await using program = await openStdio(home);
    const { value, ms } = await timed(run(program.client, HELLO));
    expect(value.result).toBe('hello world');
    expect(ms).toBeLessThan(NO_WAIT_MS);
  });

  test('costs REST nothing where the code uses another server', async () => {
    using home = openHome(STUCK);
    await using server = await startServe(home);
    const body = JSON.stringify({ code: 'return await mcp.fast.hello({})', capabilities: ['mcp:fast'] });
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
    const { value, ms } = await timed(fetch(`${server.url}/api/v1/execute`, { method: 'POST', headers, body }));
    expect(await value.json()).toMatchObject({ success: true, result: 'hello world' });
    expect(ms).toBeLessThan(NO_WAIT_MS);
  });
});

// From here on all wait side by side.
describe.concurrent('tools that a program has changed', () => {
  test.each([
    ['while it is called', 'legacy', 'grow({ name: "grown" })'],
    ['while it is called', 'modern', 'grow({ name: "grown" })'],
    ['right after it was called', 'modern', 'grow({ name: "grown", afterMs: 20 })'],
  ])('are seen by the very next program: announced %s, %s era', async (_, era, call) => {
    using home = openHome({ mcpServers: { moving: slow('--list-delay', '1500', '--era', era), stuck: hung() } });
    await using program = await openStdio(home);
    const first = await run(
      program.client,
      `import * as moving from '@codemode/servers/moving';
       import { searchTools } from '@codemode/discovery';
       await moving.${call};
       await new Promise((resolve) => setTimeout(resolve, 30));
       const { results } = await searchTools('grown', { serverId: 'moving' });
       globalThis.__codemode_result__ = [typeof moving.grown, results.some(({ toolName }) => toolName === 'grown')];`,
    );
    expect(first.result).toEqual(['undefined', false]);
    const next = await run(
      program.client,
      `import { grown } from '@codemode/servers/moving'; globalThis.__codemode_result__ = await grown({ who: 'tree' });`,
    );
    expect(next.result, JSON.stringify(next.diagnostics)).toBe('grown tree');
  });
});

describe.concurrent('a server that hangs', () => {
  const config = STUCK;

  test.each([
    ['no server', PLAIN, 42],
    ['another server', HELLO, 'hello world'],
    [
      'discovery of another server',
      `import { listTools } from '@codemode/discovery';
      globalThis.__codemode_result__ = (await listTools('fast')).length;`,
      2,
    ],
  ])('costs `codemode run` nothing where the program uses %s', async (_, source, result) => {
    using home = openHome(config);
    const { value, ms } = await timed(runProgram(home, 'run', programFile(home, source)));
    expect(JSON.parse(value.stdout)).toMatchObject({ result, diagnostics: [] });
    expect(ms).toBeLessThan(ONE_SHOT_WAIT_MS);
  });

  test('is named by a run that imports it, with the time waited and the setting', async () => {
    using home = openHome(config);
    const source = `import * as stuck from '@codemode/servers/stuck'; globalThis.__codemode_result__ = typeof stuck.hello;`;
    const { stdout } = await runProgram(home, 'run', programFile(home, source));
    const { diagnostics } = JSON.parse(stdout);
    expect(diagnostics).toMatchObject([{ code: 'IMPORT_FAILURE', errorClass: 'ServerNotFoundError' }]);
    expect(diagnostics[0].message).toMatch(
      /^stuck: it is still starting, no answer for 3\d(\.\d)? s \(it is given 60 s: mcpServers\.stuck\.connectTimeout\)$/,
    );
  });

  test('is waited for by a search as long as a listing would, and named', async () => {
    using home = openHome({ ...config, catalog: { firstListing: '6s' } });
    const source = `import { searchTools } from '@codemode/discovery';
      globalThis.__codemode_result__ = [...new Set((await searchTools('hello')).results.map(({ serverId }) => serverId))];`;
    const { value, ms } = await timed(runProgram(home, 'run', programFile(home, source)));
    const { result, diagnostics } = JSON.parse(value.stdout);
    expect(result).toEqual(['fast']);
    expect(diagnostics).toMatchObject([{ code: 'SERVER_STARTING' }]);
    expect(ms).toBeLessThan(ONE_SHOT_WAIT_MS);
  });

  test.each([
    [['tools', '--server', 'fast'], 'hello'],
    [['types', 'fast'], 'hello'],
  ])('costs `codemode %j` nothing', async (words, expected) => {
    using home = openHome(config);
    const value = await runProgram(home, ...words);
    expect(value.stdout).toContain(expected);
    // Where it is waited for, this is said after five seconds.
    expect(value.stderr).not.toContain('stuck');
  });

  test.each([['tools'], ['types'], ['prompt'], ['measure']])(
    'does not stop `codemode %s`, which says that it waits for it',
    async (word) => {
      using home = openHome(config);
      const { value, ms } = await timed(runProgram(home, word));
      expect(value.status).toBe(0);
      expect(value.stderr).toMatch(/asking servers: \d of 2 answered, waiting for .*stuck/);
      expect(value.stderr).toMatch(
        /"stuck": it is still starting, no answer for 1\d.* mcpServers\.stuck\.connectTimeout/,
      );
      expect(ms).toBeLessThan(50_000);
    },
  );
});

test.concurrent('a program without imports answers at once when every server hangs', async () => {
  using home = openHome({ mcpServers: { one: hung(), two: hung() } });
  const { value, ms } = await timed(runProgram(home, 'run', programFile(home, PLAIN)));
  expect(JSON.parse(value.stdout)).toMatchObject({ result: 42, diagnostics: [] });
  expect(ms).toBeLessThan(ONE_SHOT_WAIT_MS);
});

describe.concurrent('a server whose name is made up while the program runs', () => {
  const config = { mcpServers: { late: slow('--delay', '3000'), stuck: hung() } };

  test('is waited for by call_tool', async () => {
    using home = openHome(config);
    const code = `var name = ['la', 'te'].join(''); call_tool(name, 'hello', {}).result`;
    const { stdout } = await runProgram(home, 'code', 'exec', '--code', code);
    expect(JSON.parse(stdout)).toEqual({ ok: true, value: 'hello world' });
  });

  test('is waited for by getTool', async () => {
    using home = openHome(config);
    const source = `import { getTool } from '@codemode/discovery';
      globalThis.__codemode_result__ = (await getTool(['la', 'te'].join(''), 'hello')).exportName;`;
    const { stdout } = await runProgram(home, 'run', programFile(home, source));
    expect(JSON.parse(stdout).result).toBe('hello');
  });

  test('is waited for by a dynamic import', async () => {
    using home = openHome({ ...config, catalog: { firstListing: '8s' } });
    const source = `const { hello } = await import('@codemode/servers/' + ['la', 'te'].join(''));
      globalThis.__codemode_result__ = await hello();`;
    const { stdout } = await runProgram(home, 'run', programFile(home, source));
    expect(JSON.parse(stdout).result).toBe('hello world');
  });

  test('is named with the time waited when it does not come', async () => {
    using home = openHome(config);
    const code = `call_tool(['st', 'uck'].join(''), 'hello', {}).error.message`;
    const { stdout } = await runProgram(home, 'code', 'exec', '--code', code);
    expect(JSON.parse(stdout).value).toMatch(/stuck: it is still starting, no answer for 3\d.*connectTimeout/);
  });
});

describe.concurrent('`codemode servers` says why a server is not there', () => {
  const CASES: readonly [string, object, RegExp][] = [
    [
      'it is silent',
      { ...hung(), connectTimeout: '1500ms' },
      /no answer for 1\.5 s \(mcpServers\.bad\.connectTimeout sets how long it is given\): it was silent$/,
    ],
    [
      'it prints for people',
      { ...slow('--garbage'), connectTimeout: '3s' },
      /no answer for 3 s .*: it prints text that is not MCP on stdout \(first line: "Server listening on port 3000"\); a server must log to stderr$/,
    ],
    [
      'it crashes',
      slow('--crash', '3'),
      /exit code 3.*line 40 of a long stack trace, at some function Error: the license file is missing$/,
    ],
    ['its command is missing', { command: 'no-such-command' }, /command not found: no-such-command/],
  ];

  test.each(CASES)('when %s', async (_, server, expected) => {
    using home = openHome({ mcpServers: { bad: server } });
    const { stdout } = await runProgram(home, 'servers', '--json');
    const [report] = JSON.parse(stdout).servers;
    expect(report.reason).toMatch(expected);
    expect(report.reason).not.toContain('line 2 of');
  });
});

test.concurrent('a run stops waiting early for a server that prints plain text, and quotes it', async () => {
  using home = openHome({ mcpServers: { chatty: slow('--garbage') } });
  const source = `import * as chatty from '@codemode/servers/chatty'; globalThis.__codemode_result__ = Object.keys(chatty);`;
  const { value, ms } = await timed(runProgram(home, 'run', programFile(home, source)));
  const [diagnostic] = JSON.parse(value.stdout).diagnostics;
  expect(diagnostic.message).toMatch(
    /^chatty is not available: .*it prints text that is not MCP on stdout \(first line: "Server listening on port 3000"\); a server must log to stderr$/,
  );
  expect(diagnostic.hint).toBe('Ask the user to check it with: codemode servers');
  expect(ms).toBeLessThan(ONE_SHOT_WAIT_MS);
});

test.concurrent('a server that prints first and speaks later is called once it has come', async () => {
  using home = openHome({ mcpServers: { late: slow('--banner', '--delay', '7000') } });
  await using program = await openStdio(home);
  const code = `import { hello } from '@codemode/servers/late'; globalThis.__codemode_result__ = await hello();`;
  expect((await run(program.client, code)).diagnostics[0]?.message).toContain('text that is not MCP');
  await until(async () => (await run(program.client, code)).result === 'hello world');
});

describe.concurrent('where nothing is configured', () => {
  const EXPECTED =
    /No servers are configured: .*codemode\.config\.json lists no servers\..*codemode init\..*codemode add NAME/;

  test('`codemode mcp` tells the person and the model, and so does the answer of a run', async () => {
    using home = openHome({});
    await using program = await openStdio(home);
    const { tools } = await program.client.listTools();
    expect(tools[0]?.description).toMatch(EXPECTED);
    expect(program.client.getInstructions()).toMatch(EXPECTED);
    const { diagnostics } = await run(program.client, PLAIN);
    expect(diagnostics).toMatchObject([{ code: 'NO_SERVERS' }]);
    expect(diagnostics[0]?.message).toMatch(EXPECTED);
    expect(program.stderr()).toMatch(EXPECTED);
  });

  test('`codemode doctor` says which places were searched', async () => {
    using home = openHome({});
    const { configFile: _, ...folders } = home;
    const { stdout } = await runWithout(folders, 'doctor');
    expect(stdout).toContain(`${join(home.work, 'codemode.config')}.{yaml,yml,json}`);
    expect(stdout).toContain('codemode init');
  });
});

/** The program without `--config`. */
async function runWithout({ work, environment }: Omit<Home, 'configFile'>, ...words: string[]) {
  const { command } = await import('../../support/command.js');
  return command(words, { cwd: work, environment });
}
