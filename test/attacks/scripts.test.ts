import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_SOURCE_BYTES } from '../../src/domain/limits.js';
import { openSandbox, type TestSandbox } from '../support/sandbox.js';

/** Scripts that attack the way they are read: the two parsers, what is written around a `return`, and what is global. */

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ max: 2 });
});
afterAll(() => box[Symbol.asyncDispose]());

const SCRIPT = { script: {} };
const end = async (source: string, options = {}): Promise<unknown> => {
  const { outcome } = await box.run(source, { ...SCRIPT, ...options });
  return outcome.status === 'completed' ? JSON.parse(outcome.resultJson) : outcome.failure.kind;
};
const often = (text: string, most = MAX_SOURCE_BYTES - 64) => text.repeat(Math.floor(most / text.length));

describe('a script that attacks its parsers', () => {
  const half = MAX_SOURCE_BYTES / 2 - 64;
  test.each<[string, string]>([
    ['parentheses around what is returned', `return ${often('(', half)}1${often(')', half)}`],
    ['blocks around a return', `${often('{', half)}return 1${often('}', half)}`],
    ['arrays that stay open', `return ${often('[')}`],
    ['negations', `return ${often('!')}1`],
    ['signs', `return ${often('- ')}1`],
    ['operators', `return ${often('1+')}1`],
    ['conditions', `return ${often('a?b:')}1`],
    ['assignments', `return ${often('a=')}1`],
    ['arrow functions', `return ${often('a=>')}1`],
    ['conditions without braces', `${often('if(1)')}return 1`],
    ['labels', `${Array.from({ length: 20_000 }, (_, n) => `a${n}:`).join('')}return 1`],
    ['members and calls', `return a${often('.a()')}`],
    ['templates', `return ${often('`${', half)}1${often('}`', half)}`],
    ['brackets that a regular expression hides', `return /[/*]/,${often('(')}`],
  ])('has an end of its own, and the next one runs: %s', async (_, source) => {
    const { outcome } = await box.run(source, { ...SCRIPT, limits: { timeoutMs: 2_000 } });
    expect(outcome.status === 'failed' ? outcome.failure.kind : 'completed').toMatch(
      /^(syntax|exception|limit|completed)$/,
    );
    expect(await end('if (1) return 2')).toBe(2);
  });

  test('has thirty thousand returns, and its neighbour runs', async () => {
    const returns = `if (0) ${often('return 1;', 240_000)}`;
    expect(await Promise.all([end(`if (0) { ${returns} } return 5`), end('6')])).toEqual([5, 6]);
    expect(await end(`function f() { ${returns} } 5`)).toBe(5);
    expect(await end(`${returns} 5; import.meta`)).toBe('syntax');
    expect(await end(`${returns}; new.target`)).toBe('syntax');
  });
});

describe('a script that attacks what is written around it', () => {
  test.each([
    '}); call_tool(); ({',
    '} call_tool(); {',
    'return 1 } call_tool(); {',
    'return 1); call_tool(); (',
    'if (1) return 1 }} call_tool(); {{',
    'return (1 } call_tool(); { (2)',
    'return 1 /* } */ ) ; ( call_tool()',
    '`${',
    'return `${call_tool()',
    '/* never closed',
    'return 1 /* never closed',
    'return 1; break $script',
    'break $script; return 1',
    'continue $script; return 1',
    'return 1\n} call_tool(',
    'function f() { break $script } return 1',
  ])('is a syntax error, and no part of it runs: %s', async (source) => {
    const from = box.calls.length;
    expect(await end(source, { functions: { call_tool: () => null } })).toBe('syntax');
    expect(box.calls).toHaveLength(from);
  });

  test.each<[string, unknown]>([
    ['$script: { return 1 }', 1],
    ['\\u0024script: { return 1 }', 1],
    ['$script: { $script$: { \\u0024script$$: { return 1 } } }', 1],
    ['var $script = 4; return $script', 4],
    ['if (0) return; "}); call_tool(); ({"', '}); call_tool(); ({'],
    ['return "return 5"', 'return 5'],
    ['return /return[;}]/.source', 'return[;}]'],
    ['return `return ${"}"}`', 'return }'],
    ['if (1) return/* ; */1/* ; */;/* ; */else return 2', 1],
    ['if (1) return 1// ;\n;else return 2', 1],
    ['r\\u0065turn = 1', 'syntax'],
    ['r\\u0065turn 1', 'syntax'],
    ['return 1\n// the end', 1],
    ['return 1\n<!-- the end', 1],
    ['return 1 /* a\n*/ --> the end', 1],
    ['return 1\r\n', 1],
    ['return 1\u2028', 1],
    ['"use strict"\nreturn (() => { try { undeclared = 1; return "sloppy" } catch { return "strict" } })()', 'strict'],
    ['"use\\u0020strict"; return (undeclared = 1)', 1],
    ['("use strict"); return (undeclared = 1)', 1],
    ['return "use strict", (undeclared = 1)', 1],
    ['if (0) return; with ({ undefined: 3, void: 4 }) { undefined }', 3],
    ['class A { static async *return() {} return() {} } ({ return: 1 }).return', 1],
    ['return typeof arguments', 'undefined'],
    ['for (var of of [1]) return of', 1],
  ])('is what it says: %s', async (source, value) => {
    expect(await end(source)).toEqual(value);
  });
});

describe('a script that attacks its world', () => {
  test('finds no way to the functions of the worker', async () => {
    const functions = { call_tool: (input: unknown) => input };
    const source = `var found = [];
      for (var name of Object.getOwnPropertyNames(this)) if (/^__|host|codemode|entry/i.test(name)) found.push(name);
      try { found.push(typeof call_tool.caller) } catch (e) { found.push('no') }
      (function () { try { found.push(typeof arguments.callee.caller) } catch (e) { found.push('no') } })();
      [found, Object.isFrozen(call_tool), typeof call_tool.prototype]`;
    expect(await end(source, { functions })).toEqual([['no', 'undefined'], true, 'undefined']);
  });

  test('leaves nothing behind for the next one', async () => {
    await using alone = await openSandbox({ min: 1, max: 1 });
    await alone.run(
      'leak = 1; Object.prototype.leak = 2; Array.prototype.map = null; JSON.parse = null; let l = 3; 1',
      SCRIPT,
    );
    expect(
      await alone.value('[typeof leak, typeof l, typeof [].map, typeof JSON.parse, typeof setTimeout]', SCRIPT),
    ).toEqual(['undefined', 'undefined', 'function', 'function', 'undefined']);
    expect(await alone.value('globalThis.__codemode_result__ = typeof setTimeout;')).toBe('function');
    expect(alone.sandbox.pool.workers).toHaveLength(1);
  });

  test('patches what its calls are made with, and they are made all the same', async () => {
    const functions = { call_tool: (input: unknown) => [input] };
    const source = `JSON.parse = JSON.stringify = Promise = Object.setPrototypeOf = null;
      Array.prototype.toJSON = Object.prototype.toJSON = () => 'evil';
      Object.defineProperty(Object.prototype, 'ok', { get: () => false, set() {} });
      Object.defineProperty(Object.prototype, 'value', { get: () => 'evil', set() {} });
      var a = call_tool('a'); return { first: a[0], length: a.length }`;
    expect(await end(source, { functions })).toEqual({ first: 'a', length: 1 });
  });
});
