import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { LedgerHome } from '../../support/ledger.js';
import { needs } from '../../support/needs.js';
import { LANGUAGES, RunnerHome, read } from '../../support/runner.js';
import { fixture } from '../../support/upstreams.js';

const SPENDING = ['spend_credits', 'donate', 'book_flight', 'subscribe', 'top_up'];
const OBJECT = { type: 'object' };

function openHome(config: object = {}): RunnerHome {
  const home = new RunnerHome();
  const script = home.write('script.json', {
    tools: [
      ...SPENDING.map((name) => ({ name, inputSchema: OBJECT, annotations: { readOnlyHint: true } })),
      {
        ...{ name: 'get_count', inputSchema: OBJECT },
        outputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      },
    ],
    replies: { get_count: { content: [], structuredContent: { n: 'three' } } },
  });
  const server = { command: process.execPath, args: [fixture('scripted-server.mjs'), script] };
  home.write('codemode.config.json', { mcpServers: { shop: server }, ...config });
  return home;
}

const COUNT = {
  node: `import { getCount } from './servers/shop/index.js'; import { normalize } from './client/mcp_client.js';
    const { ok, data, error } = await normalize(getCount({})); globalThis.result = ok ? data : error.type;`,
  python: `from servers.shop import get_count
from client.mcp_client import normalize
answer = await normalize(get_count({}))
result = answer['data'] if answer['ok'] else answer['error']['type']`,
};

describe.each(LANGUAGES)('what is between a %s program and its tools', needs('bubblewrap', 'python3'), (language) => {
  test('tools that spend ask a person, whatever they claim [B15]', async () => {
    using home = openHome();
    const source = {
      node: `import { callTool, normalize } from './client/mcp_client.js';
        globalThis.result = [];
        for (const name of ${JSON.stringify(SPENDING)})
          globalThis.result.push((await normalize(callTool('shop', name, {}))).error?.type);`,
      python: `from client.mcp_client import call_tool, normalize
result = [(await normalize(call_tool('shop', name, {}))).get('error', {}).get('type') for name in ${JSON.stringify(SPENDING)}]`,
    };
    const { data, stderr } = await home.runner([language], source[language]);
    expect(data, stderr).toEqual(SPENDING.map(() => 'ApprovalRequired'));
  });

  test('an answer that breaks its own schema is a warning, and an error with strictOutput [B10, B11]', async () => {
    using home = openHome();
    const { data, stderr } = await home.runner([language], COUNT[language]);
    expect(data).toEqual({ n: 'three' });
    expect(stderr).toMatch(
      /codemode: warning: shop: The result of "get_count" breaks the tool's own output schema at \/n/,
    );
    using strict = openHome({ strictOutput: true });
    expect((await strict.runner([language], COUNT[language])).data).toBe('InvalidOutput');
  });

  test('secrets behind their names do not leave, and an address of git is no e-mail address [B8]', async () => {
    using home = openHome();
    const lines = [
      'password=hunter2-Zq81x',
      'Authorization: Bearer abcDEF123456ghijk',
      'aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzkey1',
      'postgres://ann:s3cr3tPass9@db.example.com/shop',
      'https://example.com/x?token=abcdef0123456789',
      'git@github.com:org/repo.git',
    ];
    const source = {
      node: `const lines = ${JSON.stringify(lines)}; for (const line of lines) console.log(line); globalThis.result = lines;`,
      python: `lines = ${JSON.stringify(lines)}\nfor line in lines: print(line)\nresult = lines`,
    };
    const { data, stderr } = await home.runner([language], source[language]);
    for (const text of [(data as string[]).join('\n'), stderr]) {
      for (const secret of ['hunter2', 'abcDEF123456', 'wJalrXUtn', 's3cr3tPass9', 'abcdef0123456789'])
        expect(text).not.toContain(secret);
      expect(text).toContain('git@github.com:org/repo.git');
      expect(text).toContain('postgres://ann:[redacted:url-password]@db.example.com/shop');
    }
  });
});

test(
  'a Python program with a wrong call is stopped before it makes another',
  needs('bubblewrap', 'python3'),
  async () => {
    const day = { command: process.execPath, args: [fixture('everyday-server.mjs')] };
    const policy = [{ tools: ['ledger/*', 'day/*'], decision: 'allow' }];
    using home = new LedgerHome({ policy, mcpServers: { day } });
    const run = async (code: string) => {
      const input = `from servers.ledger import write\nfrom servers.day import add\nimport servers.day\n${code}`;
      return read(await home.run(['--config', home.config, 'runner', 'python'], { input }));
    };
    const [misspelt, unknown, handled] = await Promise.all([
      run("await write(text='1')\nawait add(a=1, bb=2)\n"),
      run("await write(text='1')\nawait servers.day.ad(a=1, b=2)\n"),
      run('try:\n    await add(a=1, bb=2)\nexcept Exception as error:\n    result = error.type\n'),
    ]);
    expect(misspelt.error).toEqual({
      type: 'TypeError',
      message:
        "add has no argument 'bb'; it takes a, b (line 5, column 16). Write b: `await add(a=1, b=2)`. Nothing was sent. Correct the program and run it again.",
      retryable: false,
    });
    expect(unknown.error).toMatchObject({
      type: 'AttributeError',
      message: expect.stringMatching(
        /^module 'servers\.day' has no function 'ad' \(line 5, column 7\)\. Write add: `await servers\.day\.add\(a=1, b=2\)`\./,
      ),
    });
    expect([home.lines, handled.data]).toEqual([[], 'InvalidArguments']);
  },
);

test(
  'a Node program with a wrong call is not started, where TypeScript is installed',
  needs('bubblewrap', 'python3'),
  async () => {
    const day = { command: process.execPath, args: [fixture('everyday-server.mjs')] };
    const policy = [{ tools: ['ledger/*', 'day/*'], decision: 'allow' }];
    const compiler = fileURLToPath(new URL('../../../node_modules/typescript-native', import.meta.url));
    using home = new LedgerHome({ policy, mcpServers: { day }, check: { compiler } });
    const run = async (code: string) => {
      const imports = ['ledger', 'day']
        .map((name) => `import * as ${name} from './servers/${name}/index.js';`)
        .join(' ');
      return read(await home.run(['--config', home.config, 'runner', 'node'], { input: `${imports}\n${code}` }));
    };
    const misspelt = await run("await ledger.write({ text: '1' });\nawait day.add({ a: 1, bb: 2 });");
    expect(misspelt.error).toEqual({
      type: 'TypeError',
      message: expect.stringMatching(
        /^Object literal .*'bb' does not exist .*\(line 3, column 23\)\. Write b: `await day\.add\(\{ a: 1, b: 2 \}\);`\. Nothing was sent\./,
      ),
      retryable: false,
    });
    const unknown = await run("await ledger.write({ text: '1' });\nawait day.ad({ a: 1, b: 2 });");
    expect(unknown.error).toMatchObject({ type: 'TypeError', message: expect.stringContaining("'ad' does not exist") });
    expect(home.lines).toEqual([]);
    const handled = await run(`import { normalize } from './client/mcp_client.js';
await ledger.write({ text: '1', more: process.version });
globalThis.result = (await normalize(day.add({ a: 1, bb: 2 }))).error.type;`);
    expect([handled.data, home.lines.length]).toEqual(['InvalidArguments', 1]);
  },
);
