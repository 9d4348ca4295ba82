import { describe, expect, test } from 'vitest';
import { parseScriptRun } from './contract.js';

const defaults = {
  timeoutMs: 120_000,
  maxToolCalls: 0,
  memory: { maxMemoryBytes: 1, maxLogBytes: 2 },
  most: { timeoutMs: 600_000, maxToolCalls: Number.MAX_SAFE_INTEGER },
};
const parse = (request: unknown) => parseScriptRun(request, defaults);

test('a missing option has its default, and 0 calls means no limit', () => {
  const whole = {
    code: '1',
    language: 'javascript',
    input: {},
    limits: { timeoutMs: 120_000, maxToolCalls: Number.MAX_SAFE_INTEGER, maxMemoryBytes: 1, maxLogBytes: 2 },
    allowedServers: [],
  };
  expect(parse({ code: '1' })).toEqual(whole);
  expect(parse({ code: '1', options: {} })).toEqual(whole);
  const configured = parseScriptRun({ code: '1' }, { ...defaults, timeoutMs: 5, maxToolCalls: 7 });
  expect(configured.limits).toMatchObject({ timeoutMs: 5, maxToolCalls: 7 });
  const options = { timeout_ms: 9, max_tool_calls: 0, allowed_servers: ['a'] };
  const asked = parseScriptRun({ code: '1', options }, { ...defaults, timeoutMs: 5, maxToolCalls: 7 });
  expect(asked).toMatchObject({
    limits: { timeoutMs: 9, maxToolCalls: Number.MAX_SAFE_INTEGER },
    allowedServers: ['a'],
  });
});

test('a fraction is a number: time is rounded up, and calls are rounded down', () => {
  const limitsOf = (options: object) => parse({ code: '1', options }).limits;
  expect(limitsOf({ timeout_ms: 1_500.5, max_tool_calls: 2.9 })).toMatchObject({ timeoutMs: 1_501, maxToolCalls: 2 });
  // Not 0, which is not a limit: the first call is more than half a call.
  expect(limitsOf({ max_tool_calls: 0.5 })).toMatchObject({ maxToolCalls: 0 });
});

test('an argument or option that resembles none of the contract is left out', () => {
  expect(parse({ code: '1', explanation: 'because' })).toEqual(parse({ code: '1' }));
  expect(parse({ code: '1', options: { verbose: 5 } })).toEqual(parse({ code: '1' }));
});

test('no request goes beyond what the operator allows', () => {
  const narrow = { ...defaults, most: { timeoutMs: 1_000, maxToolCalls: 5 } };
  const limitsOf = (options: object) => parseScriptRun({ code: '1', options }, narrow).limits;
  expect(limitsOf({})).toMatchObject({ timeoutMs: 1_000, maxToolCalls: 5 });
  expect(limitsOf({ max_tool_calls: 9 })).toMatchObject({ maxToolCalls: 5 });
  expect(limitsOf({ max_tool_calls: 2, timeout_ms: 3 })).toMatchObject({ timeoutMs: 3, maxToolCalls: 2 });
  expect(() => limitsOf({ timeout_ms: 1_001 })).toThrow('options.timeout_ms: must be at most 1000 here, as configured');
});

describe('a request that is malformed is refused with the field and what is wrong', () => {
  const options = (value: object) => ({ code: '1', options: value });
  const TIMEOUT = 'options.timeout_ms: must be a number between 1 and 600000';
  const COUNT = 'options.max_tool_calls: must be a number, 0 (no limit) or more';
  const SERVERS = 'must be an array of server names';
  test.each([
    [undefined, 'the request: must be an object'],
    [[], 'the request: must be an object'],
    [{}, 'code: is missing; give the source of a script'],
    [{ script: '1' }, 'code: is missing; script is not known: give the program as code'],
    [{ language: 'javascript' }, 'code: is missing; give the source of a script'],
    [{ code: '' }, 'code: is empty; give the source of a script'],
    [{ code: ' \n' }, 'code: is empty; give the source of a script'],
    [{ code: 7 }, 'code: must be a string of JavaScript or TypeScript'],
    [{ code: '1', language: 'python' }, 'language: must be "javascript" or "typescript"'],
    [{ code: '1', input: [] }, 'input: must be an object'],
    [{ code: '1', input: 'x' }, 'input: must be an object'],
    [{ code: '1', input: null }, 'input: must be an object'],
    [{ code: '1', options: 'x' }, 'options: must be an object'],
    [options({ timeout_ms: 0 }), TIMEOUT],
    [options({ timeout_ms: 600_001 }), TIMEOUT],
    [options({ timeout_ms: 0.5 }), TIMEOUT],
    [options({ timeout_ms: '1000' }), TIMEOUT],
    [options({ max_tool_calls: -1 }), COUNT],
    [options({ max_tool_calls: '5' }), COUNT],
    [options({ max_tool_calls: -0.5 }), COUNT],
    [options({ allowed_servers: 'github' }), `options.allowed_servers: ${SERVERS}`],
    [options({ allowed_servers: ['a', 7] }), 'options.allowed_servers.1: must be a string: the name of a server'],
    [options({ timeout: 5 }), 'options.timeout: is not known; did you mean timeout_ms?'],
    [{ code: '1', inputs: {} }, 'inputs: is not known; did you mean input?'],
    [{ code: '1', timeout_ms: 5 }, 'timeout_ms: belongs in options: {"options": {"timeout_ms": ...}}'],
  ])('%j', (request, message) => {
    expect(() => parse(request)).toThrow(expect.objectContaining({ code: 'bad_input', message }));
  });
});
