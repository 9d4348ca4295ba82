import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Home } from '../../support/cli.js';
import { GITHUB } from '../../support/code-execution.js';
import { fixture } from '../../support/upstreams.js';

/** A home with the document's configuration file, where its program has it. */
function openProxyHome(settings: object = { enable_code_execution: true }, servers?: unknown) {
  const home = new Home();
  const script = home.write('github.json', GITHUB);
  const github = { command: process.execPath, args: [fixture('scripted-server.mjs'), script] };
  const mcpServers = servers ?? [{ name: 'github', protocol: 'stdio', ...github, env: {}, enabled: true }];
  const file = home.write('.mcpproxy/mcp_config.json', { listen: ':8080', ...settings, mcpServers });
  return { home, file, github, [Symbol.dispose]: () => home[Symbol.dispose]() };
}

const exec = (home: Home, ...words: string[]) => home.run(['code', 'exec', ...words]);

describe('code exec', () => {
  test('prints what the script returned, indented, and exits with 0 [D10]', async () => {
    using place = openProxyHome();
    const { home } = place;
    expect(await exec(home, '--code=({ result: input.value * 2 })', '--input={"value": 21}')).toEqual({
      status: 0,
      stdout: '{\n  "ok": true,\n  "value": {\n    "result": 42\n  }\n}\n',
      stderr: '',
    });
    expect(await exec(home, '--code=({sum: input.a + input.b})', '--input={"a":5,"b":10}')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('"sum": 15'),
    });
  });

  test('without an input it has {}, and each of the allowed servers may be called [D10]', async () => {
    using place = openProxyHome();
    const code = `--code=[input, call_tool('github', 'list-repos', {}).ok, call_tool('other', 'x', {}).error.code]`;
    const { stdout } = await exec(place.home, code, '--allowed-servers=github, other');
    expect(JSON.parse(stdout)).toEqual({ ok: true, value: [{}, true, 'SERVER_NOT_FOUND'] });
  });

  test('reads script and input from files, TypeScript by its name, and calls tools [D9, D10]', async () => {
    using place = openProxyHome();
    const { home } = place;
    const file = home.write(
      'script.ts',
      `const users: string[] = input.users;
       const names = users.map((username) => call_tool('github', 'get_user', { username })).filter((res) => res.ok)
         .map((res) => res.result.name as string);
       return { names };`,
    );
    const params = home.write('params.json', { users: ['octocat', 'torvalds'] });
    const { status, stdout, stderr } = await exec(home, `--file=${file}`, `--input-file=${params}`);
    expect([status, JSON.parse(stdout), stderr]).toEqual([
      0,
      { ok: true, value: { names: ['The Octocat', 'The Octocat'] } },
      '',
    ]);
    const code = "--code=var r = call_tool('github','get_user',{username:input.user}); r";
    expect(JSON.parse((await exec(home, code, '--input={"user":"octocat"}')).stdout)).toMatchObject({
      value: { ok: true, result: { login: 'octocat' } },
    });
  });

  test.each([
    [['--code=throw new Error("Test error")'], 'RUNTIME_ERROR'],
    [['--code=var x = {'], 'SYNTAX_ERROR'],
    [['--code=while(true){}', '--timeout=1000'], 'TIMEOUT'],
    [['--code=for(;;) call_tool("github", "list-repos", {})', '--max-tool-calls=10'], 'MAX_TOOL_CALLS_EXCEEDED'],
    [['--code=call_tool("gitlab", "a", {})', '--allowed-servers=github, other'], 'SERVER_NOT_ALLOWED'],
    [['--code=(function () {})'], 'SERIALIZATION_ERROR'],
    [['--code=const x: number = 1', '--language=javascript'], 'SYNTAX_ERROR'],
  ])('a script that fails is printed with its code, and exits with 1: %j [D5, D10]', async (words, code) => {
    using place = openProxyHome();
    const { status, stdout, stderr } = await exec(place.home, ...words);
    expect(status).toBe(1);
    // What the contract's messages have no room for.
    expect(stderr).toMatch(/^(?:codemode: warning: .*\n)?$/);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code, stack: expect.any(String) } });
    expect(stdout).toMatch(/^{\n {2}"ok": false,\n {2}"error": {\n {4}"code"/);
  });

  test.each([
    [[], 'no script was given; name it with --code or --file'],
    [['--code=1', '--file=x.js'], 'give either --code or --file, not both'],
    [['--code='], '--code is empty; give the source of a script'],
    [['--file=missing.js'], 'missing.js does not exist; check the path'],
    [['--file=.'], '. is a directory; name the file with the program'],
    [['--code=1', '--input={'], /^codemode: --input is not JSON: /],
    [['--code=1', '--input=[1]'], '--input must be a JSON object such as {"value": 21}, not an array'],
    [['--code=1', '--input=7'], '--input must be a JSON object such as {"value": 21}, not a number'],
    [['--code=1', '--input={}', '--input-file=x'], 'give either --input or --input-file, not both'],
    [['--code=1', '--input-file=missing.json'], 'missing.json does not exist; check the path'],
    [['--code=1', '--timeout=0'], '--timeout: expected a whole number, from 1 to 600000, found "0"'],
    [['--code=1', '--timeout=600001'], '--timeout: expected a whole number, from 1 to 600000, found "600001"'],
    [['--code=1', '--max-tool-calls=-1'], '--max-tool-calls: expected a whole number, 0 or more, found "-1"'],
    [['--code=1', '--language=python'], '--language is "python"; use one of: javascript, typescript'],
    [['--code=1', '--log-level=loud'], '--log-level is "loud"; use one of: trace, debug, info, warn, error'],
    [['--code=1', '--config=missing.json'], /missing\.json: does not exist; check the path/],
    [['--code=1', '--colour'], /unknown option '--colour'/],
  ])('bad input is one message on stderr, and status 2: %j [D10, X6]', async (words, message) => {
    using place = openProxyHome();
    const { status, stdout, stderr } = await exec(place.home, ...words);
    expect([status, stdout]).toEqual([2, '']);
    if (typeof message === 'string') expect(stderr).toBe(`codemode: ${message}\n`);
    else expect(stderr).toMatch(message);
  });

  test('what the script logs goes to stderr, filtered by the log level [D10]', async () => {
    using place = openProxyHome();
    const code = '--code=console.debug("fine"); console.log("usual"); console.error("bad"); 1';
    const logged = async (...words: string[]) => (await exec(place.home, code, ...words)).stderr.match(/\w+$/gm);
    expect(await logged('--log-level=debug')).toEqual(['fine', 'usual', 'bad']);
    expect(await logged()).toEqual(['usual', 'bad']);
    expect(await logged('--log-level', 'error')).toEqual(['bad']);
  });
});

test('the log shows each call from debug on, and servers that failed from warn on [D10]', async () => {
  using home = new Home();
  const github = { command: process.execPath, args: [fixture('scripted-server.mjs'), home.write('g.json', GITHUB)] };
  const file = home.write('mcp_config.json', {
    enable_code_execution: true,
    mcpServers: { github, dead: { command: './not-there' }, shut: { ...github, quarantined: true } },
  });
  const code =
    "--code=call_tool('github', 'get_user', { username: 'secret' }); call_tool('github', 'fail', {}); call_tool('dead', 'x', {}); 1";
  const logged = async (level: string) =>
    (await exec(home, `--config=${file}`, code, `--log-level=${level}`)).stderr.replace(/\d+ ms/g, 'N ms').split('\n');
  const failed = /^codemode: warning: server dead is not available: command not found/;
  const continued =
    /^codemode: warning: 2 of 3 calls failed, and the program continued: github\/fail \(1\), dead\/x \(1\)/;
  const shut = /^codemode: warning: .*quarantined is set/;
  const [first, user, fail, dead, note, warning, ...rest] = await logged('debug');
  expect(first).toMatch(shut);
  expect([user, fail]).toEqual([
    'codemode: call of github/get_user took N ms and succeeded',
    'codemode: call of github/fail took N ms and failed: ToolCallError: the tool reported an error',
  ]);
  expect(dead).toMatch(/^codemode: call of dead\/x took N ms and failed: dead is not available/);
  expect(note).toMatch(continued);
  expect(warning).toMatch(failed);
  expect(rest).toEqual(['']);
  expect(await logged('warn')).toEqual([...[shut, continued, failed].map((line) => expect.stringMatching(line)), '']);
  expect(await logged('error')).toEqual(['']);
});

describe("the document's configuration", () => {
  test('is found by the server of the contract too [D9]', async () => {
    using place = openProxyHome({ code_execution_timeout_ms: 1000 });
    const { home } = place;
    expect(await home.run(['mcp', '--profile', 'code_execution'])).toEqual({
      status: 2,
      stdout: '',
      stderr: switchedOff,
    });
    home.write('.mcpproxy/mcp_config.json', {
      enable_code_execution: true,
      mcpServers: [{ name: 'github', ...place.github }],
    });
    expect((await home.run(['mcp', '--profile', 'code_execution'])).stderr).toContain('servers: github');
    const { stderr } = await home.run(['mcp']);
    expect(stderr).not.toContain('github');
    expect(stderr).toContain('.mcpproxy/mcp_config.json (read with --profile code_execution, or --config)');
    // Named, it says by its keys which contract it is for.
    const named = await home.run(['--config', `${home.folder}/.mcpproxy/mcp_config.json`, 'mcp']);
    expect(named.stderr).toMatch(/profile code_execution\n.*servers: github/);
  });

  test('servers as a list with protocol are read without its other keys [D9]', async () => {
    using place = openProxyHome();
    const { home, github } = place;
    const file = home.write('servers.json', {
      mcpServers: [
        { name: 'one', protocol: 'stdio', ...github },
        { name: 'two', protocol: 'auto', ...github },
        { name: 'odd', protocol: 'pigeon', ...github },
      ],
    });
    const code = "--code=['one', 'two'].map((name) => call_tool(name, 'list-repos', {}).ok)";
    const { status, stdout, stderr } = await exec(home, code, `--config=${file}`);
    expect([status, JSON.parse(stdout)]).toEqual([0, { ok: true, value: [true, true] }]);
    expect(stderr).toMatch(/server "odd" is disabled: mcpServers\.odd\.protocol: expected one of stdio, http/);
  });

  const switchedOff =
    'codemode: code_execution is disabled in configuration; set enable_code_execution: true (in a file of codemode: codeExecution.enabled: true)\n';

  test('is off unless its key says otherwise, for the command and for the server [D9]', async () => {
    using place = openProxyHome({ code_execution_timeout_ms: 1000 });
    const { home, file } = place;
    expect(await exec(home, '--code=1')).toEqual({ status: 2, stdout: '', stderr: switchedOff });
    expect(await home.run(['--config', file, 'mcp'])).toEqual({ status: 2, stdout: '', stderr: switchedOff });
  });

  test('sets time, calls and places, and a request goes before it [D6, D9]', async () => {
    using place = openProxyHome({
      enable_code_execution: true,
      code_execution_timeout_ms: 700,
      code_execution_max_tool_calls: 1,
      code_execution_pool_size: 2,
    });
    const { home } = place;
    const twice = '--code=[1, 2].map(() => call_tool("github", "list-repos", {}).ok)';
    expect((await exec(home, twice, '--timeout=60000')).stdout).toContain('Exceeded maximum tool calls limit (1)');
    expect((await exec(home, twice, '--timeout=60000', '--max-tool-calls=0')).status).toBe(0);
    expect((await exec(home, '--code=for(;;);')).stdout).toContain('"TIMEOUT"');
  });

  test('is read from the named path, with servers as a list or a map, without disabled ones [D9]', async () => {
    using place = openProxyHome();
    const { home, github } = place;
    const settings = { enable_code_execution: true };
    const off = { ...github, enabled: false };
    const unseen = { ...github, quarantined: true };
    const list = [
      { name: 'one', ...github },
      { name: 'two', ...off },
      { name: 'three', ...unseen },
    ];
    const map = { one: github, two: off, three: unseen };
    const code = "--code=['one', 'two', 'three'].map((name) => call_tool(name, 'list-repos', {}).ok)";
    for (const [name, mcpServers] of Object.entries({ list, map })) {
      const file = home.write(`${name}/mcp_config.json`, { ...settings, mcpServers });
      const { status, stdout } = await exec(home, code, `--config=${file}`);
      expect([name, status, JSON.parse(stdout)]).toEqual([name, 0, { ok: true, value: [true, false, false] }]);
    }
  });

  test.each([
    ['code_execution_timeout_ms', 600_001],
    ['code_execution_timeout_ms', 0],
    ['code_execution_max_tool_calls', -1],
    ['code_execution_pool_size', 101],
    ['code_execution_pool_size', 0],
    ['enable_code_execution', 'perhaps'],
  ])('a value that is out of range is shown under its key: %s %j [D6, D9]', async (key, value) => {
    using place = openProxyHome({ enable_code_execution: true, [key]: value });
    const { status, stdout, stderr } = await exec(place.home, '--code=1');
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(new RegExp(`mcp_config\\.json:1:\\d+: ${key}: expected .*, found ${JSON.stringify(value)}`));
  });

  test('the settings of the guide are a configuration that loads [D6]', async () => {
    using place = openProxyHome();
    const guide = readFileSync(new URL('../../../docs/guides/code-execution.md', import.meta.url), 'utf8');
    const [, yaml = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(guide) ?? [];
    const file = place.home.write('guide.yaml', yaml);
    const { status, stdout } = await exec(place.home, `--config=${file}`, '--code=6 * 7');
    expect([status, JSON.parse(stdout)]).toEqual([0, { ok: true, value: 42 }]);
  });

  test('a file of codemode goes before it, and init offers it for import [D9]', async () => {
    using place = openProxyHome();
    const { home } = place;
    const plan = await home.json<{ servers: { name: string; client: string }[] }>(['init', '--json', '--yes']);
    expect(plan.servers).toMatchObject([{ name: 'github', client: 'mcpproxy' }]);
    home.write('.mcpproxy/mcp_config.json', { mcpServers: [] });
    const code = "--code=call_tool('github', 'list-repos', {}).ok";
    expect(JSON.parse((await exec(home, code)).stdout)).toEqual({ ok: true, value: true });
  });
});
