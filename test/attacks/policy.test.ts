import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadSettings } from '../../src/compose/settings.js';
import { Home } from '../support/cli.js';
import { type CodemodeClient, startCodemode } from '../support/codemode-client.js';

const named = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });

describe('getting around the policy', () => {
  let codemode: CodemodeClient;
  beforeAll(async () => {
    codemode = await startCodemode({
      scripts: {
        files: {
          tools: [
            named('read'),
            named('drop_all'),
            named('push'),
            named('label'),
            named('write_file'),
            named('Write_File'),
            named('ｗrite_file'),
            named('wri\u200bte_file'),
            named('peek', { annotations: { readOnlyHint: true, destructiveHint: true } }),
            named('erase_disk', { annotations: { readOnlyHint: true, destructiveHint: false } }),
            named('sеnd_money', { annotations: { readOnlyHint: true } }), // a Cyrillic е
          ],
        },
      },
      config: {
        // A run that needs an approval is suspended at once.
        approvals: { grace: 0, expireAfter: '1s' },
        policy: [
          { tools: 'files/push', arguments: { branch: 'main' }, decision: 'deny', reason: 'protected' },
          { tools: 'files/write_*', decision: 'deny', reason: 'read only' },
          { tools: 'files/label', arguments: { 'names.*': { equals: 'x' } }, decision: 'deny' },
          { annotations: { readOnlyHint: true }, decision: 'allow' },
        ],
        defaults: { codeMode: { excludedTools: ['files/erase_disk'] } },
      },
    });
  });
  afterAll(() => codemode[Symbol.asyncDispose]());

  const DENIED = expect.stringContaining('the policy denies');

  test.each([
    ['an alias', 'const harmless = files.drop_all; await harmless({})'],
    ['a computed member', `await files[['drop', 'all'].join('_')]({})`],
    ['a destructured export', 'const { drop_all: x } = files; await x({})'],
    ['a dynamic import', `await (await import('@codemode/' + 'servers/files')).drop_all({})`],
    ['Reflect.apply', 'await Reflect.apply(files.drop_all, null, [{}])'],
    ['a bound function', 'await files.drop_all.bind(null)({})'],
    ['a callback', 'await Promise.all([{}].map((x) => files.drop_all(x)))'],
    ['a call inside a call', 'await files.read({ a: await files.drop_all({}) })'],
    ['a proxy', 'await new Proxy(files.drop_all, {})({})'],
    ['a generator', 'function* g() { yield files.drop_all({}) } for (const x of g()) await x'],
    ['a timer', 'await new Promise((y, n) => setTimeout(() => files.drop_all({}).then(y, n), 1))'],
    [
      'catching the refusal and trying again',
      'await files.drop_all({}).catch(() => {}).finally(() => files.drop_all({}))',
    ],
  ])('by %s meets it all the same [B15]', async (_, code) => {
    const { diagnostics, toolTrace } = await codemode.run(`import * as files from '@codemode/servers/files'; ${code};`);
    expect(diagnostics).toMatchObject([{ code: 'APPROVAL_PENDING' }]);
    expect(toolTrace.some(({ toolName, ok }) => toolName === 'drop_all' && ok)).toBe(false);
  });

  test.each([
    ['a list', '{ branch: ["main"] }'],
    ['a getter that answers otherwise the second time', '{ n: 0, get branch() { return this.n++ ? "main" : "dev" } }'],
    ['toJSON', '{ toJSON: () => ({ branch: "main" }) }'],
    ['an own __proto__', 'JSON.parse(\'{"__proto__":{"branch":"main"},"branch":"main"}\')'],
  ])('by arguments that look different when they are checked: %s', async (_, input) => {
    const { diagnostics, result } = await codemode.run(
      `import { push } from '@codemode/servers/files'; globalThis.__codemode_result__ = await push(${input});`,
    );
    // What is judged is what is sent: one reading, by then plain JSON.
    if (result === null) expect(diagnostics[0]).toMatchObject({ message: DENIED });
    else expect(result).toMatchObject({ received: { branch: 'dev' } });
  });

  test('by more text than is compared with a rule, which stopped the host for seconds', async () => {
    const label = (names: string) =>
      codemode.run(`import { label } from '@codemode/servers/files';
        globalThis.__codemode_result__ = (await label({ names: ${names} })).received.names.length;`);
    // Each text is read in many ways, and as the document that it is.
    const documents = await label(`Array(300).fill('["' + 'ab","'.repeat(1_000) + '"]')`);
    expect(documents.diagnostics[0]).toMatchObject({ message: DENIED });
    expect(await label(`Array(5_000).fill('a usual label')`)).toMatchObject({ result: 5_000 });
  });

  test('by a tool that lies about itself [B15]', async () => {
    const names = (await codemode.value(`
      import * as files from '@codemode/servers/files';
      globalThis.__codemode_result__ = Object.keys(files).filter((name) => name !== '__meta__');`)) as string[];
    const decisions: [string, string][] = [];
    for (const name of names) {
      const { diagnostics } = await codemode.run(
        `import * as files from '@codemode/servers/files'; await files[${JSON.stringify(name)}]({});`,
      );
      decisions.push([
        name,
        diagnostics[0]?.code === 'APPROVAL_PENDING' ? 'ask' : diagnostics.length === 0 ? 'made' : 'error',
      ]);
    }
    // The look-alikes of a denied tool are not even there.
    expect(
      decisions
        .filter(([, decision]) => decision === 'made')
        .map(([name]) => name)
        .sort(),
    ).toEqual(['label', 'push', 'read']);
    expect(decisions.filter(([, decision]) => decision === 'ask')).toHaveLength(3);
    expect(decisions).toHaveLength(6); // peek, drop_all and the one that is spelled with a foreign letter
  });

  test('by calling a tool directly instead of from code [B15]', async () => {
    const result = await codemode.client.callTool({ name: 'erase_disk', arguments: {} });
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).toContain("needs a person's approval");
  });
});

describe('a policy that is broken in its file', () => {
  const home = new Home();
  afterAll(() => home[Symbol.dispose]());

  test('stops the program with the place [B15]', async () => {
    const file = home.write('codemode.config.yaml', 'policy: nonsense');
    const { status, stdout, stderr } = await home.run(['--config', file, 'run', '-'], { input: '1' });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('codemode.config.yaml:1:9: policy: expected a map, found "nonsense"');
  });

  test.each([
    [
      'policy:\n  - { tools: "a/*", decision: maybe }',
      ':2:31: policy.rules[0].decision: expected one of allow, ask, deny',
    ],
    ['policy:\n  - { tool: "a/*", decision: deny }', ':2:7: policy.rules[0].tool: unknown key; did you mean tools?'],
    ['policy:\n  - { tools: files, decision: deny }', ':2:14: policy.rules[0].tools'],
    ['policy:\n  - { tools: [a/b, files], decision: deny }', ':2:20: policy.rules[0].tools[1]: expected a pattern'],
    [
      'policy:\n  - tools: a/b\n    arguments: { x: { matches: "(" } }\n    decision: deny',
      ':3:32: policy.rules[0].arguments.x.matches',
    ],
    ['policy:\n  - { tools: a/b, decision: deny, flow: allow }', ':2:41: policy.rules[0].flow'],
    [
      'policy:\n  - tools: a/*\n    decision: deny\n    examples:\n      - { tool: b/c, decision: deny }',
      ':5:32: policy.rules[0].examples[0].decision: expected deny for this example, but it comes out as allow',
    ],
    // It would match nobody: the caller is the token's owner.
    [
      'policy:\n  - { caller: "session *", decision: deny }',
      ':2:15: policy.rules[0].caller: expected the name of a token',
    ],
    ['policy: { prices: { files: 1 } }', ':1:28: policy.prices.files'],
    ['policy: { budget: { run: -1 } }', ':1:26: policy.budget.run'],
    ['limits: [{ tools: a/b }]', 'at least one of rate, concurrency, timeout'],
    ['limits: [{ rate: fast }]', ':1:18: limits[0].rate: expected a rate such as 10/s'],
  ])('is refused with the place when a host is opened: %s [B15]', async (text, message) => {
    const configFile = home.write('codemode.config.yaml', text);
    await expect(loadSettings({ configFile })).rejects.toMatchObject({
      code: 'bad_config',
      message: expect.stringContaining(message),
    });
  });

  test('a server whose labels cannot be read is not used without them [B15]', async () => {
    const file = home.write('codemode.config.yaml', 'mcpServers: { a: { command: x, labels: [secret] } }');
    const { stdout } = await home.run(['--config', file, 'servers', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, servers: [{ id: 'a', state: 'disabled', tools: 0 }] });
    expect(stdout).toContain('mcpServers.a.labels[0]: expected one of private, untrusted, external');
  });
});
