import { describe, expect, expectTypeOf, test } from 'vitest';
import { FrameError } from './frames.js';
import type { ProcessToHost, WorkerToHost } from './messages.js';
import {
  type ParsedProcessMessage,
  type ParsedWorkerMessage,
  parseProcessMessage,
  parseWorkerMessage,
} from './parse.js';

const parse = (value: unknown) => parseWorkerMessage(Buffer.from(JSON.stringify(value)));
const parseText = (text: string) => parseWorkerMessage(Buffer.from(text));

const execution = 'run-1';
const FAILURE = {
  kind: 'limit',
  name: 'SandboxLimitError',
  message: 'no',
  hint: 'do',
  errorClass: 'SandboxLimitError',
  stack: '    at main.ts:1:1',
  position: { line: 1, column: 2 },
  limit: 'memory',
};

/** One good message of each kind; the tests below spoil them one field at a time. */
const GOOD = {
  'worker/ready': { type: 'worker/ready', protocol: 1, build: 'b', role: 'quickjs' },
  'call/request': { type: 'call/request', execution, call: 1, target: 'server/tool' },
  'call/site': { type: 'call/site', execution, call: 1, places: [{ line: 3, column: 7 }] },
  'execution/log': { type: 'execution/log', execution, entry: 0, level: 'log', atMs: 0.5 },
  'clock/read': { type: 'clock/read', execution, reads: 12, ticks: [3, 17, 11, 18] },
  'execution/waiting': {
    type: 'execution/waiting',
    execution,
    wakeAtMs: 1_700_000_000_000,
    usage: { cpuMs: 0.5, memoryBytes: 1 },
  },
  'execution/computing': { type: 'execution/computing', execution },
  'execution/unfit': { type: 'execution/unfit', execution, reason: 'it uses import()' },
  'execution/suspended': { type: 'execution/suspended', execution },
  'execution/end': {
    type: 'execution/end',
    execution,
    failure: FAILURE,
    logsCut: false,
    usage: { cpuMs: 0.5, memoryBytes: 1 },
  },
} as const satisfies Record<WorkerToHost['type'], object>;

const messages: readonly Readonly<Record<string, unknown>>[] = [
  ...Object.values(GOOD),
  { ...GOOD['execution/end'], failure: null },
];

type DeepReadonly<Value> = Value extends object ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> } : Value;

test('what is parsed is what is declared, field by field', () => {
  expectTypeOf<DeepReadonly<ParsedWorkerMessage>>().toEqualTypeOf<DeepReadonly<WorkerToHost>>();
  expectTypeOf<DeepReadonly<ParsedProcessMessage>>().toEqualTypeOf<DeepReadonly<ProcessToHost>>();
});

describe('accepted', () => {
  test.each(messages)('$type, as it is', (message) => {
    expect(parse(message)).toEqual(message);
  });

  test('nothing to wake for, and an end without failure', () => {
    expect(parse({ ...GOOD['execution/waiting'], wakeAtMs: null })).toMatchObject({ wakeAtMs: null });
    expect(parse({ ...GOOD['execution/end'], failure: null })).toMatchObject({ failure: null });
  });

  test('a failure with nothing but what it must have', () => {
    const failure = { kind: 'syntax', name: 'SyntaxError', message: '' };
    expect(parse({ ...GOOD['execution/end'], failure })).toEqual({ ...GOOD['execution/end'], failure });
  });
});

describe('refused', () => {
  const refuse = (value: unknown) => expect(() => parse(value), JSON.stringify(value)).toThrow(FrameError);

  test('more calls without await than are told, and names that are too long', () => {
    const call = { name: 'echo', times: 1, position: { line: 1, column: 1 } };
    const end = (calls: unknown[]) => ({ ...GOOD['execution/end'], unawaited: { count: 4, calls } });
    expect(parse(end([call, call, call]))).toEqual(end([call, call, call]));
    refuse(end([call, call, call, call]));
    refuse(end([{ ...call, name: 'x'.repeat(257) }]));
    refuse(end([{ ...call, stack: '' }]));
  });

  test.each([
    ['nothing at all', ''],
    ['half a message', '{"type":"execution/susp'],
    ['two messages', '{"type":"execution/suspended","execution":"a"}{}'],
    ['what is not an object', '"execution/suspended"'],
    ['null', 'null'],
    ['an array', '[{"type":"execution/suspended","execution":"a"}]'],
    ['bytes that are not text', '\u0000\u0001'],
  ])('%s', (_, text) => {
    expect(() => parseText(text)).toThrow(FrameError);
  });

  test('a message without a type, of an unknown type, or of one that only the host sends', () => {
    for (const type of [undefined, '', 'worker/gone', 'host/hello', 'execution/start', 'toString', '__proto__', 1, {}])
      refuse({ ...GOOD['execution/suspended'], type });
  });

  test.each(messages)('$type with a field too many', (message) => {
    for (const name of ['extra', 'Execution', '', 'constructor', 'hasOwnProperty', 'prototype', 'toString'])
      refuse({ ...message, [name]: 1 });
  });

  test.each(messages)('$type with a __proto__ of its own', (message) => {
    const text = JSON.stringify(message);
    for (const value of ['{"admin":true}', 'null', '1', '[]'])
      expect(() => parseText(`{"__proto__":${value},${text.slice(1)}`), value).toThrow(FrameError);
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });

  test.each(messages)('$type with a field too few', (message) => {
    for (const name of Object.keys(message)) {
      const { [name]: _, ...rest } = message;
      refuse(rest);
    }
  });

  test.each(messages)('$type with a field of another type', (message) => {
    for (const [name, value] of Object.entries(message)) {
      const others = [1, 'text', true, null, [], {}, ['text'], undefined].filter(
        (other) => typeof other !== typeof value && !(other === null && name !== 'type' && mayBeNull(message, name)),
      );
      for (const other of others) refuse({ ...message, [name]: other });
    }
  });

  test.each([
    ['worker/ready', 'protocol'],
    ['call/request', 'call'],
    ['execution/log', 'entry'],
  ] as const)('%s whose %s is no count', (type, field) => {
    for (const value of [-1, -0.5, 0.5, 1e16, 2 ** 53]) refuse({ ...GOOD[type], [field]: value });
    for (const text of ['1e400', '-1e400', 'NaN', '"1"'])
      expect(() => parseText(JSON.stringify({ ...GOOD[type], [field]: 'here' }).replace('"here"', text))).toThrow(
        FrameError,
      );
  });

  test('calls that are numbered from zero, or beyond all counting', () => {
    refuse({ ...GOOD['call/request'], call: 0 });
    refuse({ ...GOOD['call/request'], call: 2 ** 31 + 1 });
  });

  test.each([
    ['execution/log', 'atMs'],
    ['execution/waiting', 'wakeAtMs'],
  ] as const)('%s whose %s is no time', (type, field) => {
    for (const value of [-1, -1e-9, 1e300, 2 ** 53]) refuse({ ...GOOD[type], [field]: value });
    expect(() => parseText(JSON.stringify({ ...GOOD[type], [field]: 'here' }).replace('"here"', '1e400'))).toThrow(
      FrameError,
    );
  });

  test.each([
    ['worker/ready', 'build', 128],
    ['call/request', 'execution', 64],
    ['call/request', 'target', 1_024],
    ['execution/end', 'execution', 64],
  ] as const)('%s whose %s is longer than %i characters', (type, field, most) => {
    expect(parse({ ...GOOD[type], [field]: 'x'.repeat(most) })).toMatchObject({ [field]: 'x'.repeat(most) });
    refuse({ ...GOOD[type], [field]: 'x'.repeat(most + 1) });
  });

  test('an execution without a name', () => {
    refuse({ ...GOOD['execution/suspended'], execution: '' });
  });

  test('words that the protocol does not have', () => {
    refuse({ ...GOOD['worker/ready'], role: 'python' });
    refuse({ ...GOOD['execution/log'], level: 'info' });
  });

  describe('in execution/end, a failure', () => {
    const refuseFailure = (failure: unknown) => refuse({ ...GOOD['execution/end'], failure });

    test('with a field too many, too few, or a __proto__ of its own', () => {
      refuseFailure({ ...FAILURE, extra: 1 });
      refuseFailure({ ...FAILURE, position: { line: 1, column: 1, file: '/etc/passwd' } });
      for (const name of ['kind', 'name', 'message'])
        refuseFailure(Object.fromEntries(Object.entries(FAILURE).filter(([key]) => key !== name)));
      const text = JSON.stringify(GOOD['execution/end']).replace('"kind"', '"__proto__":{"admin":true},"kind"');
      expect(() => parseText(text)).toThrow(FrameError);
    });

    test('of an unknown kind or limit', () => {
      refuseFailure({ ...FAILURE, kind: 'success' });
      refuseFailure({ ...FAILURE, limit: 'patience' });
    });

    test('whose place is not one', () => {
      for (const position of [null, 7, {}, { line: 1 }, { line: -1, column: 1 }, { line: 1.5, column: 1 }])
        refuseFailure({ ...FAILURE, position });
    });

    test.each([
      ['name', 256],
      ['message', 8_192],
      ['hint', 4_096],
      ['errorClass', 256],
      ['stack', 8_192],
    ] as const)('whose %s is longer than %i characters', (field, most) => {
      expect(parse({ ...GOOD['execution/end'], failure: { ...FAILURE, [field]: 'x'.repeat(most) } })).toBeDefined();
      refuseFailure({ ...FAILURE, [field]: 'x'.repeat(most + 1) });
    });

    test('whose optional fields are null', () => {
      for (const field of ['hint', 'errorClass', 'stack', 'position', 'limit'])
        refuseFailure({ ...FAILURE, [field]: null });
    });
  });
});

function mayBeNull(message: Readonly<Record<string, unknown>>, field: string): boolean {
  return field === 'wakeAtMs' || (field === 'failure' && message['type'] === 'execution/end');
}

describe('from a process that runs a program', () => {
  const end = { type: 'process/end', execution, failure: null, exitCode: 0 };
  const parse = (message: object) => parseProcessMessage(Buffer.from(JSON.stringify(message)));

  test('an end is accepted as it is', () => {
    expect(parse(end)).toEqual(end);
    expect(parse({ ...end, failure: FAILURE, exitCode: 255 })).toEqual({ ...end, failure: FAILURE, exitCode: 255 });
  });

  test.each([
    { ...end, exitCode: 256 },
    { ...end, exitCode: -1 },
    { ...end, exitCode: 0.5 },
    { ...end, failure: { ...FAILURE, kind: 'other' } },
    { ...end, failure: undefined },
    { ...end, more: 1 },
    { type: 'worker/ready', protocol: 1, build: 'b', role: 'quickjs' },
    { type: 'execution/waiting', execution, wakeAtMs: null },
  ])('%j is refused', (message) => {
    expect(() => parse(message)).toThrow(FrameError);
  });
});
