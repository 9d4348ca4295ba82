import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { VirtualModule } from '../../src/domain/run.js';
import { openSandbox, result, type TestSandbox } from '../support/sandbox.js';

/** A program tampers with its bindings: the modules, their exports, and the functions of the worker behind them. */

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ max: 1 });
});
afterAll(() => box[Symbol.asyncDispose]());

const functions = { echo: (input: unknown) => input, other: () => 'other' };
const WITH_VALUE: readonly VirtualModule[] = [
  {
    specifier: '@codemode/servers/test',
    exports: [
      { kind: 'call', name: 'echo', target: 'test/echo' },
      { kind: 'call', name: 'other', target: 'test/other' },
      { kind: 'value', name: '__meta__', value: { tools: [{ name: 'echo' }], deep: { er: { list: [1, { x: 1 }] } } } },
    ],
  },
];

describe('modules and their exports cannot be changed [A34]', () => {
  test.each([
    ['assigning an export', `tools.echo = tools.other`],
    ['deleting an export', `delete tools.echo`],
    ['adding an export', `tools.added = 1`],
    ['redefining an export', `Object.defineProperty(tools, 'echo', { value: tools.other })`],
    ['defining an accessor over an export', `Object.defineProperty(tools, 'echo', { get: () => tools.other })`],
    ['another prototype for a namespace', `Object.setPrototypeOf(tools, { echo: tools.other })`],
    ['Reflect.set on a namespace', `if (!Reflect.set(tools, 'echo', tools.other)) throw new TypeError()`],
    ['Object.assign into a namespace', `Object.assign(tools, { echo: tools.other })`],
    ['a property on a tool', `tools.echo.target = 'test/other'`],
    ['the name of a tool', `Object.defineProperty(tools.echo, 'name', { value: 'other' })`],
    ['the prototype of a tool', `Object.setPrototypeOf(tools.echo, tools.other)`],
    ['a property on an error class', `errors.ToolCallError.prototype.name = 'Forged'`],
    [
      'instanceof of an error class',
      `Object.defineProperty(errors.ToolCallError, Symbol.hasInstance, { value: () => true })`,
    ],
    ['a constant', `tools.__meta__.tools = []`],
    ['a constant, deep inside', `tools.__meta__.deep.er.list[1].x = 2`],
    ['a list in a constant', `tools.__meta__.tools.push({ name: 'forged' })`],
    ['assigning an imported name', `await import('@codemode/servers/test').then((again) => { again.echo = 1 })`],
  ])('%s', async (_, attempt) => {
    const value = await box.value(
      `import * as tools from '@codemode/servers/test'; import * as errors from '@codemode/errors';
       const before = JSON.stringify(tools.__meta__);
       let refused = 'nothing was thrown';
       try { ${attempt} } catch (error) { refused = error.name }
       ${result(`[refused, await tools.echo('mine'), tools.echo.name, Object.keys(tools), before === JSON.stringify(tools.__meta__), new errors.CodemodeError('x') instanceof errors.ToolCallError]`)}`,
      { functions, modules: WITH_VALUE },
    );
    expect(value).toEqual(['TypeError', 'mine', 'echo', ['__meta__', 'echo', 'other'], true, false]);
  });

  test('a module that is loaded after everything was patched is as hard as one loaded before', async () => {
    const value = await box.value(
      `const refused = []; const attempt = (act) => { try { act(); refused.push('done') } catch (error) { refused.push(error.name) } };
       Object.keys = () => []; Object.freeze = (value) => value; Object.defineProperty = (value) => value; JSON.parse = () => ({});
       Array.prototype[Symbol.iterator] = function* () {}; Object.prototype.get = () => 'forged'; Object.prototype.writable = true;
       const tools = await import('@codemode/servers/test');
       attempt(() => { tools.echo.target = 1 });
       attempt(() => { tools.__meta__.deep.er.list[1].x = 2 });
       attempt(() => { tools.__meta__.tools[0].name = 2 });
       ${result(`refused.join() + tools.echo.name + (await tools.echo('mine'))`)}`,
      { functions, modules: WITH_VALUE },
    );
    expect(value).toBe('TypeError,TypeError,TypeErrorechomine');
  });

  test('importing again, however the specifier is written, gives the same functions', async () => {
    const value = await box.value(
      `import { echo } from '@codemode/servers/test';
       const again = await Promise.all(['@codemode/servers/test', '@codemode/servers/' + 'test', { toString: () => '@codemode/servers/test' }, '@codemode/servers/test\\0hidden'].map((each) => import(each)));
       ${result('again.every((each) => each.echo === echo)')}`,
      { functions },
    );
    expect(value).toBe(true);
  });
});

describe('a program cannot import the module of the bindings themselves [A34]', () => {
  test.each([
    ['by its name', `'codemode:bindings'`],
    ['with NUL behind it', `'codemode:bindings\\0'`],
    ['with NUL and a permitted name behind it', `'codemode:bindings\\0@codemode/servers/test'`],
    ['with a permitted name and NUL before it', `'@codemode/nothing\\0codemode:bindings'`],
    ['in capitals', `'CODEMODE:BINDINGS'`],
    ['in full-width letters', `'\\uff43odemode:bindings'`],
    ['with an invisible character', `'codemode:\\u200bbindings'`],
    ['with a lone surrogate', `'codemode:bindings\\ud800'`],
    ['with a fragment', `'codemode:bindings#'`],
    ['as a path', `'./codemode:bindings'`],
    ['relative to a module of ours', `'@codemode/servers/test/../codemode:bindings'`],
    ['with spaces around it', `' codemode:bindings '`],
    [
      'as an object that changes its mind',
      `(() => { let n = 0; return { toString: () => n++ === 0 ? 'codemode:bindings' : '@codemode/errors' } })()`,
    ],
    ['by a very long name', `'codemode:bindings/'.repeat(50_000)`],
    ['with import attributes', `'codemode:bindings', { with: { type: 'json' } }`],
    ['the boot code', `'codemode:boot'`],
    ['the program itself by its file name', `'./main.ts'`],
  ])('%s', async (_, specifier) => {
    const value = await box.value(
      `import { echo } from '@codemode/servers/test';
       const attempt = () => import(${specifier}).then((found) => Object.keys(found), (error) => 'refused');
       const inside = [];
       await echo({ toJSON() { inside.push(attempt()); return 1 } });
       await echo({ get a() { inside.push(attempt()); return 1 } });
       await new Promise((resolve) => setTimeout(() => { inside.push(attempt()); resolve() }, 1));
       await { then(resolve) { inside.push(attempt()); resolve() } };
       await echo(1).then(() => inside.push(attempt()));
       ${result('[await attempt(), ...await Promise.all(inside)]')}`,
      { functions },
    );
    expect(value).toEqual(Array.from({ length: 6 }, () => 'refused'));
  });

  test('statically, as a name, a namespace, a re-export or a side effect', async () => {
    for (const source of [
      `import { bindCall } from 'codemode:bindings'; ${result('typeof bindCall')}`,
      `import * as all from 'codemode:bindings'; ${result('Object.keys(all)')}`,
      `export * from 'codemode:bindings'; ${result('1')}`,
      `import 'codemode:bindings'; ${result('1')}`,
      `import 'codemode:bindings\\0@codemode/errors'; ${result('1')}`,
    ]) {
      const { outcome } = await box.run(source, { functions });
      expect(outcome).toMatchObject({ status: 'failed', failure: { kind: 'import' } });
    }
  });

  test('not even where a server’s module has the name of the program’s file or of the bindings', async () => {
    for (const specifier of ['main.ts', 'codemode:bindings', '@codemode/errors']) {
      const modules: VirtualModule[] = [{ specifier, exports: [{ kind: 'call', name: 'echo', target: 'test/echo' }] }];
      const { outcome } = await box.run(
        `${result(`await import('codemode:bindings').then((found) => Object.keys(found).join(), () => 'refused')`)}`,
        { functions, modules },
      );
      expect([specifier, outcome]).toEqual([specifier, { status: 'completed', resultJson: '"refused"' }]);
    }
  });
});

describe('a program cannot reach the worker’s functions', () => {
  test('through any name a program could try', async () => {
    const names = ['call', 'callSync', 'log', 'wake', 'mapStack'];
    const value = await box.value(
      result(
        `[...${JSON.stringify(names)}.flatMap((name) => ['__host_' + name, 'host_' + name, '__' + name]), '__entry', '__codemode', 'host', 'std', 'os', 'bjson', 'scriptArgs', 'print', 'gc', 'navigator', 'process', 'require', 'Deno', 'Bun'].filter((name) => name in globalThis)`,
      ),
    );
    expect(value).toEqual([]);
  });

  test('a call made with forged arguments is still this program’s own call of that tool', async () => {
    const made: string[] = [];
    const value = await box.value(
      `import { echo } from '@codemode/servers/test';
       const outcomes = [];
       for (const act of [() => Reflect.apply(echo, { target: 'test/other' }, ['a']), () => echo.call({ number: 999 }, 'b'), () => new Proxy(echo, {})('c'), () => echo.bind(null, 'd')(), () => echo('e', 'f', 'g'), () => echo(), () => Reflect.construct(echo, ['h']), () => new echo('i')])
         outcomes.push(await (async () => act())().catch((error) => error.name));
       ${result('outcomes')}`,
      {
        functions: {
          echo: (input, call) => {
            made.push(`${call.number} ${call.target} ${call.argumentsJson}`);
            return input;
          },
        },
      },
    );
    expect(value).toEqual(['a', 'b', 'c', 'd', 'e', null, 'TypeError', 'TypeError']);
    expect(made).toEqual([
      '1 test/echo ["a"]',
      '2 test/echo ["b"]',
      '3 test/echo ["c"]',
      '4 test/echo ["d"]',
      '5 test/echo ["e","f","g"]',
      '6 test/echo []',
    ]);
  });

  test('arguments that re-enter the bindings, throw or are not JSON make no extra call', async () => {
    const made: string[] = [];
    const value = await box.value(
      `import { echo } from '@codemode/servers/test';
       const cycle = {}; cycle.cycle = cycle; const inner = [];
       const inputs = [{ toJSON() { inner.push(echo('inner')); return 'outer' } }, { get a() { throw new RangeError('mine') } }, cycle, 10n, Symbol('s'), () => 1, undefined, NaN, { toJSON: () => undefined }, 'x'.repeat(33 * 2 ** 20)];
       const outcomes = []; for (const input of inputs) outcomes.push(await echo(input).then((value) => ['answered', value], (error) => [error.name]));
       ${result('[outcomes, await Promise.all(inner)]')}`,
      {
        limits: { maxMemoryBytes: 256 * 1024 * 1024 },
        functions: {
          echo: (input, call) => {
            made.push(`${call.number} ${call.argumentsJson}`);
            return input;
          },
        },
      },
    );
    expect(value).toEqual([
      [
        ['answered', 'outer'],
        ['RangeError'],
        ['SchemaValidationError'],
        ['SchemaValidationError'],
        ['SchemaValidationError'],
        ['SchemaValidationError'],
        ['answered', null],
        ['SchemaValidationError'],
        ['answered', null],
        ['Error'],
      ],
      ['inner'],
    ]);
    expect(made.map((each) => each.slice(0, 20))).toEqual(['1 ["inner"]', '2 ["outer"]', '3 []', '4 [null]']);
  });
});
