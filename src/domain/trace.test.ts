import { describe, expect, test } from 'vitest';
import { readTraceContext, traceCarrier } from './trace.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const parent = `00-${TRACE}-${SPAN}-01`;

describe('a trace context', () => {
  test('is read as it was written, with what other systems left in it [X4]', () => {
    const context = readTraceContext({ traceparent: parent, tracestate: ' rojo=00f067, congo@v=t61rc ,' });
    expect(context).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true, state: 'rojo=00f067,congo@v=t61rc' });
    expect(context && traceCarrier(context)).toEqual({ traceparent: parent, tracestate: 'rojo=00f067,congo@v=t61rc' });
    expect(readTraceContext({ traceparent: `00-${TRACE}-${SPAN}-00` })).toMatchObject({ isSampled: false });
    // A later version may say more behind what we know.
    expect(readTraceContext({ traceparent: `01-${TRACE}-${SPAN}-03-more` })).toMatchObject({ traceId: TRACE });
  });

  test.each([
    ['no text', 7],
    ['empty', ''],
    ['in capitals', parent.toUpperCase()],
    ['of no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['of no step', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['of the version that must not be', `ff-${TRACE}-${SPAN}-01`],
    ['longer than its version allows', `${parent}-more`],
    ['with a line break', `${parent}\r\nx: y`],
    ['endless', `01-${TRACE}-${SPAN}-01-${'a'.repeat(10_000)}`],
  ])('that is %s counts as none [X4]', (_, traceparent) => {
    expect(readTraceContext({ traceparent })).toBeUndefined();
  });

  test.each([
    ['without names', 'abc'],
    ['with a line break', 'a=b\r\nx: y'],
    ['too long', `a=${'b'.repeat(600)}`],
    ['with too many members', Array.from({ length: 33 }, (_, index) => `a${index}=b`).join(',')],
  ])('keeps nothing of a state %s [X4]', (_, tracestate) => {
    expect(readTraceContext({ traceparent: parent, tracestate })).toEqual({
      traceId: TRACE,
      spanId: SPAN,
      isSampled: true,
    });
  });
});
