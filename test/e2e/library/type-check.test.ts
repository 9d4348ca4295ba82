import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CodemodeHost } from '../../../src/index.js';
import { jailForTests } from '../../support/jailed.js';

const { createHost } = (await import(
  new URL('../../../dist/index.js', import.meta.url).href
)) as typeof import('../../../src/index.js');
const COMPILER = fileURLToPath(new URL('../../../node_modules/typescript-native', import.meta.url));
const { options } = await jailForTests('strict');

/** What the tools were called with. */
const sent: string[] = [];
const tools = {
  shop: {
    create_order: {
      input: {
        type: 'object',
        properties: { customer_id: { type: 'string' }, count: { type: 'integer' }, note: { type: 'string' } },
        required: ['customer_id'],
      },
      execute: (input: unknown) => {
        sent.push(JSON.stringify(input));
        if ((input as { customer_id: string }).customer_id === 'none') throw new Error('no note for this customer');
        return { id: 'o1' };
      },
    },
    strict_order: {
      input: { type: 'object', properties: { note: { type: 'string' } }, additionalProperties: false },
      execute: () => 'never',
    },
    secret: { execute: () => 'never' },
  },
} as const;
/** Its name says that it orders something, which asks a person otherwise. */
const ALLOWED = { tools: ['shop/create_order'], decision: 'allow' };
const SHOP = "import { create_order } from '@codemode/servers/shop';\n";
const GIVE = 'globalThis.__codemode_result__ = ';

describe('the types of a program', options, () => {
  let host: CodemodeHost;
  beforeAll(async () => {
    const policy = [ALLOWED, { tools: ['shop/secret'], decision: 'deny' }];
    host = await createHost({ config: { policy, check: { compiler: COMPILER } }, tools: tools as never });
  });
  afterAll(() => host.close());
  beforeEach(() => {
    sent.length = 0;
  });

  test('a call that would surely fail ends the run before another is sent', async () => {
    const source = `${SHOP}await create_order({ customer_id: 'c1' });\nawait create_order({ custmer_id: 'c2' });\n`;
    const { diagnostics, toolTrace } = await host.run(source);
    expect(diagnostics).toMatchObject([
      {
        severity: 'error',
        code: 'TYPE_ERROR',
        message: expect.stringContaining("'custmer_id' does not exist in type '{ customer_id: string;"),
        hint: expect.stringContaining("Write customer_id: `await create_order({ customer_id: 'c2' });`."),
        path: 'main.ts:3:22',
      },
    ]);
    expect({ sent, toolTrace: toolTrace ?? [] }).toEqual({ sent: [], toolTrace: [] });
  });

  test('a valid program runs as before, and so does one that catches its mistake', async () => {
    const caught = `try { await create_order({}); } catch (error) { ${GIVE} error.name; }`;
    const [fine, handled] = await Promise.all([
      host.run(`${SHOP}${GIVE} await create_order({ customer_id: 'c1', count: 2 });`),
      host.run(`${SHOP}${caught}`),
    ]);
    expect([fine.diagnostics, handled.result]).toEqual([[], 'SchemaValidationError']);
    expect(sent).toEqual(['{"customer_id":"c1","count":2}']);
  });

  test('an uncertain problem is reported only if the run fails', async () => {
    const doubtful = `const order: { name: string } = await create_order({ customer_id: 'c1' });\nconst count: string = 5;\n`;
    const [fine, failed] = await Promise.all([
      host.run(`${SHOP}${doubtful}${GIVE} count;`),
      host.run(`${SHOP}${doubtful}${GIVE} order.name.length;`),
    ]);
    expect(fine.diagnostics).toEqual([]);
    expect(failed.diagnostics).toContainEqual({
      severity: 'warning',
      code: 'TYPE_WARNING',
      message: "count: Type 'number' is not assignable to type 'string'.",
      path: 'main.ts:3:7',
    });
  });

  test('what was only seen of a tool warns, and stops nothing', async () => {
    const source = `${SHOP}const order = await create_order({ customer_id: 'c1' });\n${GIVE} order.nme;`;
    const { diagnostics } = await host.run(source);
    expect([diagnostics, sent.length]).toEqual([[], 1]);
    expect(await host.check(source)).toMatchObject({
      problems: [{ severity: 'warning', code: 2339, position: { line: 3 } }],
    });
  });

  test('a misspelt optional property stops nothing, and is reported if the tool then fails', async () => {
    const source = `${SHOP}${GIVE} await create_order({ customer_id: 'c1', nte: 'x' });`;
    const { diagnostics, result } = await host.run(source);
    expect([diagnostics, result, sent]).toEqual([[], { id: 'o1' }, ['{"customer_id":"c1","nte":"x"}']]);
    const failing = await host.run(source.replace("'c1'", "'none'"));
    expect(failing.diagnostics).toContainEqual(
      expect.objectContaining({ severity: 'warning', code: 'TYPE_WARNING', message: expect.stringContaining("'nte'") }),
    );
    const strict = SHOP.replace('create_order', 'strict_order');
    expect((await host.run(`${strict}await strict_order({ nte: 'x' });`)).diagnostics).toMatchObject([
      { code: 'TYPE_ERROR', hint: expect.stringContaining('Write note') },
    ]);
  });

  test('check says what is wrong and runs nothing', async () => {
    expect(await host.check(`${SHOP}await create_order({ customer_id: 5 });`)).toMatchObject({
      isChecked: true,
      problems: [{ severity: 'error', code: 2322, position: { line: 2, column: 22 } }],
    });
    expect(sent).toEqual([]);
  });

  test('a program that cannot be parsed is an error for check; a run leaves it to the engine', async () => {
    const at = async (source: string) => {
      const verdict = await host.check(source);
      return verdict.isChecked
        ? verdict.problems.map(({ severity, code, position }) => [severity, code, position])
        : [];
    };
    expect(await at(`${SHOP}await create_order({ customer_id: 5 );`)).toEqual([
      ['error', 1005, { line: 2, column: 37 }],
    ]);
    expect(await at('const a = 1;\nreturn a;')).toEqual([['error', 1108, { line: 2, column: 1 }]]);
    expect((await host.run(`${SHOP}return 1;`)).diagnostics).toMatchObject([{ code: 'SYNTAX_ERROR' }]);
  });

  test('a server that does not exist is reported with the nearest name', async () => {
    expect(await host.check(SHOP.replace('/shop', '/shopp'))).toMatchObject({
      problems: [
        {
          severity: 'error',
          message: "There is no server 'shopp'. Did you mean '@codemode/servers/shop'?",
          hint: "Write @codemode/servers/shop: `import { create_order } from '@codemode/servers/shop';`.",
        },
      ],
    });
    expect(await host.check('process.exit();')).toMatchObject({
      problems: [{ message: "Cannot find name 'process'." }],
    });
  });

  test('a short name that is close to a missing one is corrected too', async () => {
    const tag = {
      input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      execute: () => 1,
    };
    await host.registerServer({ name: 'tags', tools: { tag } } as never);
    const source =
      "import { tag } from '@codemode/servers/tags';\nawait tag({ idd: 'a' });\nawait tag({ other: 'a' });";
    const { problems } = (await host.check(source)) as unknown as { problems: { hint?: string }[] };
    expect(problems.map(({ hint = '' }) => hint)).toEqual(["Write id: `await tag({ id: 'a' });`.", '']);
  });

  test('bodies of execute are checked too: calls by name, and none by position', async () => {
    const wrong = `await mcp.shop.create_order({ customer_id: 'c1' });\nreturn mcp.shop.create_order({ custmer_id: 'c2' });`;
    const granted = { capabilities: ['mcp:shop'] };
    const { error } = await host.execute(wrong, granted);
    expect(error).toMatchObject({
      code: 'TYPE_ERROR',
      message: expect.stringContaining("'custmer_id' does not exist"),
    });
    expect(
      (
        await host.execute(
          "await mcp.shop.create_order({ customer_id: 'c1' });\nreturn mcp.shop.creat_order({});",
          granted,
        )
      ).error,
    ).toMatchObject({
      code: 'TYPE_ERROR',
    });
    expect(sent).toEqual([]);
    const fine = await host.execute("return (await mcp.shop.create_order('c1', 2)).id;", granted);
    expect([fine.result, sent]).toEqual(['o1', ['{"customer_id":"c1","count":2}']]);
  });

  test('one caller has only so many programs checked at once', async () => {
    const verdicts = await Promise.all(Array.from({ length: 40 }, () => host.check(`${SHOP}await create_order({});`)));
    const checked = verdicts.filter(({ isChecked }) => isChecked);
    expect([checked.length >= 16, checked.length < 40]).toEqual([true, true]);
  });

  test('a tool that the policy hides is not declared', async () => {
    const verdict = await host.check("import * as shop from '@codemode/servers/shop';\nawait shop.secret();");
    expect(verdict).toMatchObject({ problems: [{ severity: 'error', code: 2339 }] });
  });

  test('tools that come later are declared from then on', async () => {
    const source = "import { wave } from '@codemode/servers/late';\nawait wave({ to: 5 });";
    expect(await host.check(source)).toMatchObject({ problems: [{ code: 2307 }] });
    const wave = { input: { type: 'object', properties: { to: { type: 'string' } } }, execute: () => 'hi' };
    await host.registerServer({ name: 'late', tools: { wave } } as never);
    expect(await host.check(source)).toMatchObject({ problems: [{ code: 2322, position: { line: 2 } }] });
  });

  test.each([
    [
      'endless instantiation',
      'type T<N extends any[]> = N["length"] extends 99999 ? N : T<[...N, ...N, 1]>; type X = T<[]>;',
    ],
    [
      'a giant union',
      `type D = ${[...'0123456789'].map((digit) => `'${digit}'`).join('|')}; type U = \`\${D}\${D}\${D}\${D}\${D}\`; type V = \`\${U}\${U}\`; const v: V = '1';`,
    ],
    ['deep types', `type A = ${'{ a: '.repeat(20_000)}1${' }'.repeat(20_000)};`],
    ['a tower of functions', `const f = ${'(x) => '.repeat(10_000)} 1;`],
  ])('%s does not hold a run up', async (_, bomb) => {
    const { result } = await host.run(`${SHOP}${bomb}\n${GIVE} await create_order({ customer_id: 'c1' });`);
    // A source that the sandbox itself refuses to read has no result either way; nothing is sent twice.
    expect([{ id: 'o1' }, null]).toContainEqual(result);
    expect(sent.length).toBeLessThanOrEqual(1);
  });
});

/** Instantiates itself twice at every step: it takes the compiler longer than a check may. */
const BOMB = `type Grow<N extends number, A extends any[] = []> = A['length'] extends N ? A : Grow<N, [...A, Grow<N, [...A, 1]>]>;
type Grown = Grow<40>; const grown: Grown = 1;\n`;

test('a bomb ends the checker, the run continues with a note, and the next program is checked', options, async () => {
  const config = { policy: [ALLOWED], check: { compiler: COMPILER } };
  await using host = await createHost({ config, tools: tools as never });
  const { result, diagnostics } = await host.run(`${SHOP}${BOMB}${GIVE} await create_order({ customer_id: 'c1' });`);
  expect({ result, diagnostics }).toMatchObject({
    result: { id: 'o1' },
    diagnostics: [{ severity: 'info', code: 'TYPES_NOT_CHECKED', message: expect.stringContaining('was stopped') }],
  });
  expect(await host.check(`${SHOP}await create_order({ customer_id: 5 });`)).toMatchObject({
    isChecked: true,
    problems: [{ severity: 'error' }],
  });
});

test('without a type checker programs run as they are, and check says what to type', async () => {
  const state = mkdtempSync(join(tmpdir(), 'codemode-none-'));
  const config = { policy: [ALLOWED], check: { compiler: join(state, 'nothing') } };
  await using host = await createHost({ config, tools: tools as never });
  try {
    sent.length = 0;
    const source = `${SHOP}await create_order({ customer_id: 'c1' });\nawait create_order({ custmer_id: 'c2' });\n`;
    const { diagnostics } = await host.run(source);
    expect(diagnostics[0]).toMatchObject({ errorClass: 'SchemaValidationError' });
    expect(sent).toHaveLength(1);
    expect(await host.check(source)).toMatchObject({
      isChecked: false,
      fix: expect.stringContaining('check.compiler'),
    });
  } finally {
    rmSync(state, { recursive: true });
  }
});
