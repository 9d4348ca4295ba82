import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.js';
import { nodeServer } from '../../support/program.js';
import { RunnerHome } from '../../support/runner.js';
import { fixture } from '../../support/upstreams.js';

/** `data_of` and `dataOf`: the data of any answer, in Python and in Node. */

let home: RunnerHome;
beforeAll(() => {
  const mcpServers = {
    everyday: nodeServer(fixture('everyday-server.mjs')),
    paging: nodeServer(fixture('paging-server.mjs')),
  };
  home = new RunnerHome({ mcpServers });
});
afterAll(() => home[Symbol.dispose]());

describe('data_of in Python', needs('bubblewrap', 'python3'), () => {
  test('gives the structured value, else what the text holds, else the text', async () => {
    const { data, stderr } = await home.runner(
      ['python'],
      `from client.mcp_client import data_of
from servers.everyday import add, echo
texts = [
    '{"a": [1]}', '{"a": 1}\\n{"a": 2}', "[{'id': 1, 'gone': None, 'pair': (1, 2)}]", 'id,name\\n1,"Smith, J"\\n',
    'Found 1:\\n\\n[{"a": 1}]', 'Found:\\n\`\`\`json\\n{"a": 1}\\n\`\`\`', 'Found:\\n[1]\\nand more',
    'Found:\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 \\\\| 3 |\\n\\nend', 'All is well, today.', '[1, {', "__import__('os')", '[' * 50000,
]
result = [data_of(await add({'a': 1, 'b': 2}))] + [data_of(await echo({'message': text})) for text in texts]
result[-1] = len(result[-1])`,
    );
    expect(data, stderr).toEqual([
      { sum: 3 },
      { a: [1] },
      [{ a: 1 }, { a: 2 }],
      [{ id: 1, gone: null, pair: [1, 2] }],
      [{ id: '1', name: 'Smith, J' }],
      [{ a: 1 }],
      { a: 1 },
      'Found:\n[1]\nand more',
      [{ a: '1', b: '2 | 3' }],
      'All is well, today.',
      '[1, {',
      "__import__('os')",
      50_000,
    ]);
  });

  test('gives a list for several blocks, and the result itself keeps `_meta`', async () => {
    const { data, stderr } = await home.runner(
      ['python'],
      `from client.mcp_client import data_of
from servers.paging import media
answer = await media({})
result = [data_of(answer), list(answer['_meta'])]`,
    );
    expect(data, stderr).toEqual([['a', 'b'], ['example.com/icons']]);
  });
});

describe('dataOf in Node', needs('bubblewrap'), () => {
  test('gives the structured value, else what the text holds, else the text', async () => {
    const { data, stderr } = await home.runner(
      ['node'],
      `import { dataOf } from './client/mcp_client.js';
import { add, echo } from './servers/everyday/index.js';
import { media } from './servers/paging/index.js';
const texts = ['{"a": [1]}', '{"a": 1}\\n{"a": 2}', "[{'id': 1, 'gone': None}]", 'id,name\\n1,"Smith, J"\\n', 'Found 1:\\n[{"a": 1}]', 'All is well, today.', '[1, {'];
globalThis.result = [dataOf(await add({ a: 1, b: 2 })), dataOf(await media({}))];
for (const message of texts) globalThis.result.push(dataOf(await echo({ message })));`,
    );
    expect(data, stderr).toEqual([
      { sum: 3 },
      ['a', 'b'],
      { a: [1] },
      [{ a: 1 }, { a: 2 }],
      [{ id: 1, gone: null }],
      [{ id: '1', name: 'Smith, J' }],
      [{ a: 1 }],
      'All is well, today.',
      '[1, {',
    ]);
    expect(stderr).not.toContain('not awaited');
  });
});

describe('a forgotten await in Node', needs('bubblewrap'), () => {
  test('of a call whose answer nothing used is reported with its line', async () => {
    const { data, stderr } = await home.runner(
      ['node'],
      `import { echo } from './servers/everyday/index.js';\n\necho({ message: 'a' });\nglobalThis.result = 1;`,
    );
    expect(data).toBe(1);
    expect(stderr).toContain('warning: not awaited: everyday/echo at line 3. Write `await` in front of each call.');
  });

  test('of the result is a failure that says what to write', async () => {
    const { error } = await home.runner(
      ['node'],
      `import { echo } from './servers/everyday/index.js';\nglobalThis.result = { text: echo({ message: 'a' }) };`,
    );
    expect(error?.message).toContain('a Promise at /text cannot be written as JSON');
  });

  test.each([
    `await Promise.all(['a', 'b'].map((message) => echo({ message })));`,
    `const later = echo({ message: 'a' }); await later;`,
    `echo({ message: 'a' }).then(() => {});`,
  ])('is not seen in %s', async (code) => {
    const { stderr } = await home.runner(
      ['node'],
      `import { echo } from './servers/everyday/index.js';\n${code}\nglobalThis.result = 1;`,
    );
    expect(stderr).not.toContain('not awaited');
  });
});

describe('a forgotten await in Python', needs('bubblewrap', 'python3'), () => {
  test('of a call whose answer nothing used is reported with its line', async () => {
    const { data, stderr } = await home.runner(
      ['python'],
      'from servers.everyday import echo\nlater = [echo(message="a")]\nkept = echo(message="b")\nawait kept\nresult = 1',
    );
    expect(data).toBe(1);
    expect(stderr).toContain('warning: not awaited, so it was never called: echo(...) at line 2. Write `await` in');
    expect(stderr.match(/not awaited/g)).toHaveLength(1);
  });
});
