import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Home } from '../../support/cli.js';
import { typeCheck } from '../../support/type-check.js';
import { fixture } from '../../support/upstreams.js';

const node = process.execPath;
let home: Home;
beforeAll(() => {
  home = new Home();
  home.write('codemode.config.yaml', {
    mcpServers: {
      everyday: { command: node, args: [fixture('everyday-server.mjs')], description: 'Everyday things' },
      odd: { command: node, args: [fixture('awkward-server.mjs'), 'odd-tools'] },
      schemas: { command: node, args: [fixture('schema-server.mjs')] },
      unused: { command: node, enabled: false },
    },
  });
});
afterAll(() => home[Symbol.dispose]());

interface Hit {
  readonly serverId: string;
  readonly toolName: string;
  readonly exportName: string;
}
interface Hits {
  readonly query: string;
  readonly results: readonly Hit[];
}

test('tools lists every tool with its server, the second time from disk without starting one', async () => {
  using own = new Home();
  const log = own.path('started');
  const script = own.write(
    'noted.mjs',
    `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(log)}, 'x'); await import(${JSON.stringify(fixture('everyday-server.mjs'))});`,
  );
  own.write('codemode.config.yaml', { mcpServers: { 'every day': { command: node, args: [script] } } });
  const first = await own.json<Hits>(['tools', '--json', '--detail', 'name']);
  expect(first.query).toBe('');
  expect(first.results).toContainEqual({ serverId: 'every-day', toolName: 'echo', exportName: 'echo' });
  expect(await own.json(['tools', '--json', '--detail', 'name'])).toEqual(first);
  expect(readFileSync(log, 'utf8')).toBe('x');
  await own.json(['tools', '--json', '--refresh']);
  expect(readFileSync(log, 'utf8')).toBe('xx');
});

test('a search ranks tools of all servers, honours server and limit, at three levels of detail', async () => {
  const search = (...words: string[]) => home.json<Hits>(['tools', ...words, '--json']);
  const description = await search('add', 'numbers', '--limit', '1');
  expect(description).toEqual({
    query: 'add numbers',
    results: [
      {
        serverId: 'everyday',
        toolName: 'add',
        exportName: 'add',
        signature: 'add({ a: number, b: number }): { sum: number }',
        description: 'Adds two numbers.',
      },
    ],
  });
  const name = await search('add numbers', '--limit', '1', '--detail', 'name');
  expect(name.results).toEqual([{ serverId: 'everyday', toolName: 'add', exportName: 'add' }]);
  const [full] = (await search('add numbers', '--limit', '1', '--detail', 'full')).results;
  expect(Object.keys(full ?? {})).toEqual([
    ...['serverId', 'toolName', 'exportName', 'signature', 'description', 'inputSchema', 'outputSchema'],
  ]);
  const elsewhere = await search('add numbers', '--server', 'odd', '--limit', '3');
  expect(elsewhere.results.filter(({ serverId }) => serverId !== 'odd')).toEqual([]);
  expect((await search('zzzyx')).results).toEqual([]);
});

test('tools prints one line a tool, without colours or control characters where nobody looks', async () => {
  const { status, stdout, stderr } = await home.run(['tools', '--server', 'schemas']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  expect(stdout.trimEnd().split('\n')[0]).toBe(
    'schemas/choices     Takes choices. */ export const broken: string = 5; /* \\u202e \\u001b[31m',
  );
});

test('types prints declarations of every schema that compile as they are, whatever is in them [A25]', async () => {
  const { status, stdout } = await home.run(['types']);
  expect(status).toBe(0);
  const use = `
    import * as s from '@codemode/servers/schemas';
    import { add, __meta__ } from '@codemode/servers/everyday';
    const sum: number = (await add({ a: 1, b: 2 })).sum;
    const id: string = __meta__.serverId;
    s.choices({ colour: 'red', fixed: 'yes' }); s.choices({ colour: 3, fixed: 'yes' }); s.choices({ colour: null, fixed: 'yes' });
    // @ts-expect-error an enum has no other members
    s.choices({ colour: 'blue', fixed: 'yes' });
    // @ts-expect-error a constant is that one value
    s.choices({ colour: 'red', fixed: 'no' });
    s.unions({ one: 1, any: { kind: 'a' }, all: { left: '', right: 1 } }); s.unions({ one: '', any: true, all: { left: '', right: 1 } });
    // @ts-expect-error all parts of allOf are needed
    s.unions({ one: 1, any: true, all: { left: '' } });
    s.nothing({ old: null, list: null }); s.nothing({ old: '', list: 4 });
    // @ts-expect-error a type array has no other types
    s.nothing({ old: '', list: '' });
    s.references({ defined: { x: 1, y: 2 }, older: 'a', pointer: 'b' });
    // @ts-expect-error what a reference leads to counts
    s.references({ defined: { x: 1 }, older: 'a', pointer: 'b' });
    // @ts-expect-error also through a pointer to another property
    s.references({ defined: { x: 1, y: 2 }, older: 'a', pointer: 1 });
    s.tree({ label: 'a', children: [{ label: 'b', children: [] }] });
    // @ts-expect-error at every depth
    s.tree({ label: 'a', children: [{ children: [] }] });
    s.maps({ open: { a: 1 }, pattern: { 'x-a': 'b' }, closed: { a: '' } });
    // @ts-expect-error values of a map have its type
    s.maps({ open: { a: '' }, pattern: {}, closed: { a: '' } });
    s.tuples({ older: ['', 1], newer: ['', true] });
    // @ts-expect-error places in a tuple have types of their own
    s.tuples({ older: [1, ''], newer: ['', true] });
    s.optional({ must: '' }); s.optional({ must: '', may: 2 });
    // @ts-expect-error what is required cannot be left out
    s.optional({ may: 2 });
    s.strange({ what: 1, gone: {}, lost: '' });
    s.no_input();
    export { sum, id };
  `;
  const files = new Map([
    ['/codemode.d.ts', stdout],
    ['/use.ts', use],
  ]);
  expect(typeCheck(files)).toEqual([]);
  expect(stdout).not.toMatch(/^\s*(export|declare) const (broken|escaped|outside)/m);
  expect(stdout).toContain('@default 7');
  expect(stdout).toContain('When it was.');
  expect(stdout).toMatch(/@format date-time|date-time/);
  expect(stdout).toMatch(/martian/);
});

test('types takes server names and a level of detail, and gives modules with warnings as JSON', async () => {
  const { shared, modules } = await home.json<{ shared: string; modules: Record<string, unknown>[] }>([
    ...['types', 'everyday', '--detail', 'signatures', '--json'],
  ]);
  expect(shared).toContain('interface ToolResult');
  expect(modules.map(({ declarations, ...rest }) => rest)).toEqual([
    { serverId: 'everyday', specifier: '@codemode/servers/everyday', warnings: [] },
  ]);
  expect(modules[0]?.declarations).toMatch(/^declare module "@codemode\/servers\/everyday" \{\n/);
  // Descriptions are left out, annotations are not.
  expect(String(modules[0]?.declarations).match(/\/\*\*.*/g)).toEqual(['/** @annotations readOnlyHint: true */']);
});

test('tools that go to the client directly are in neither', async () => {
  using own = new Home();
  own.write('codemode.config.yaml', {
    mcpServers: { everyday: { command: node, args: [fixture('everyday-server.mjs')] } },
    defaults: { codeMode: { excludedTools: ['everyday/add'] } },
  });
  const { results } = await own.json<Hits>(['tools', '--json', 'add numbers', '--limit', '100']);
  expect(results.map(({ toolName }) => toolName)).not.toContain('add');
  const { stdout } = await own.run(['types']);
  expect(stdout).toContain('export function echo(');
  expect(stdout).not.toContain('export function add(');
});

test('servers shows state, transport, tools and repairs, and exits 0 when all answer', async () => {
  const answer = await home.json<{ ok: boolean; servers: Record<string, unknown>[] }>(['servers', '--json']);
  const [everyday, odd, , unused] = answer.servers;
  expect(answer.ok).toBe(true);
  expect(everyday).toEqual({
    id: 'everyday',
    serverId: 'everyday',
    state: 'ready',
    transport: 'stdio',
    tools: 14,
    toolsAreFromCache: false,
    warnings: [],
    name: 'everyday',
    version: '1.2.3',
    protocolVersion: expect.any(String),
  });
  expect(odd).toMatchObject({
    state: 'ready',
    warnings: expect.arrayContaining(['a tool has no name and was left out']),
  });
  expect(unused).toMatchObject({ id: 'unused', state: 'disabled', tools: 0 });
});

const NO_LICENCE = 'console.error("no licence " + process.env.KEY); process.exit(3)';

test('servers says why one is down and what to type, shows no secret, and fails', async () => {
  using own = new Home();
  own.write('codemode.config.yaml', {
    mcpServers: {
      line: { command: 'npx -y it' },
      gone: { command: 'no-such-program', args: ['--api-key', 'hunter2hunter2', '${TOKEN}'] },
      dies: {
        command: node,
        args: ['-e', NO_LICENCE, '--', '--api-key', 'hunter2hunter2', '${TOKEN}', '${HOME}/x'],
        env: { KEY: 'abcdefgh12' },
      },
      away: { url: 'http://127.0.0.1:9/mcp?key=geheim123' },
      fine: { command: node, args: [fixture('everyday-server.mjs')] },
    },
  });
  const env = { TOKEN: 'sesame-open-wide' };
  const { status, stdout, stderr } = await own.run(['servers'], { env });
  expect(status).toBe(1);
  expect(stderr).toBe('');
  expect(stdout).toContain('command not found: no-such-program');
  expect(stdout).toContain('command not found: npx -y it; write its first word as `command` and the others as `args`');
  expect(stdout).toMatch(/correct `command` of this server\n +correct mcpServers\.gone in \S+\n/);
  expect(stdout).toContain(`-- --api-key '***' '***' ${own.folder}/x\n`);
  expect(stdout).toContain('exit code 3; stderr: no licence ***');
  expect(stdout).toContain(`curl -sS -i 'http://127.0.0.1:9/mcp?key=***'`);
  expect(stdout).toContain('the server cannot be reached (bad port)');
  expect(stdout).toMatch(/^ready {5}fine/m);
  for (const secret of ['hunter2', 'abcdefgh12', 'geheim123', 'sesame']) expect(stdout + stderr).not.toContain(secret);
  const json = await own.json<{ ok: boolean; servers: { id: string; state: string; fix?: string }[] }>(
    ['servers', '--json'],
    { env },
  );
  expect(json.ok).toBe(false);
  expect(json.servers.map(({ id, state, fix }) => [id, state, fix !== undefined])).toEqual([
    ['line', 'failed', true],
    ['gone', 'failed', true],
    ['dies', 'failed', true],
    ['away', 'failed', true],
    ['fine', 'ready', false],
  ]);
});

test('tools of a server that went down stay, with a warning, until servers --refresh', async () => {
  using own = new Home();
  const script = own.write('server.mjs', `await import(${JSON.stringify(fixture('everyday-server.mjs'))});`);
  own.write('codemode.config.yaml', { mcpServers: { shaky: { command: node, args: [script] } } });
  const before = await own.json<Hits>(['tools', '--json']);
  own.write('server.mjs', 'process.exit(1)');
  const { status, stdout, stderr } = await own.run(['tools', '--json', '--refresh']);
  expect({ status, results: (JSON.parse(stdout) as Hits).results }).toEqual({ status: 0, results: before.results });
  expect(stderr).toMatch(/warning: server "shaky": .*its tools are shown as they were/);
  expect((await own.run(['servers', '--refresh'])).status).toBe(1);
  const after = await own.run(['tools']);
  expect(after.status).toBe(69);
  expect(after.stderr).toMatch(/server "shaky": .*what to do about it: codemode servers/);
});

test('config explain gives every value with its layer, and masks secrets', async () => {
  using own = new Home();
  const file = own.write(
    'codemode.config.yaml',
    'profile: unified\nmcpServers:\n  web: { url: "https://h/mcp?key=geheim1", headers: { Authorization: "Bearer abcdef123" } }\n',
  );
  const env = { CODEMODE_PORT: '4000' };
  const words = ['config', 'explain', '--isolation', 'namespaces'];
  const { values, ...rest } = await own.json<{ values: Record<string, string>[] }>([...words, '--json'], { env });
  expect(rest).toEqual({ file, format: 'codemode', searched: expect.any(Array), warnings: [] });
  expect(values).toEqual(
    expect.arrayContaining([
      { key: 'profile', value: '"unified"', layer: 'file', place: `${file}:1:1` },
      { key: 'server.port', value: '4000', layer: 'environment', place: 'CODEMODE_PORT' },
      { key: 'sandbox.isolation', value: '"namespaces"', layer: 'flag', place: '--isolation' },
      { key: 'strictOutput', value: 'false', layer: 'default', place: '' },
    ]),
  );
  const { stdout } = await own.run(words, { env });
  expect(stdout).toContain('server.port: 4000  # environment CODEMODE_PORT');
  expect(stdout).not.toMatch(/geheim1|abcdef123/);
});
