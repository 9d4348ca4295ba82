import { afterAll, beforeAll, expect, test } from 'vitest';
import { evaluateInNode, type Guest, seededRandom, startGuest } from './run-in-quickjs.test-support.js';

let guest: Guest;
beforeAll(async () => {
  guest = await startGuest(`
    import { TextDecoder, TextEncoder } from './text-encoding.js';
    Object.assign(globalThis, { TextDecoder, TextEncoder });`);
});
afterAll(() => guest.close());

/** Bytes in chunks, decoded as a stream: what each step gives, or the error it ends with. */
const DECODE = `({ chunks, fatal, ignoreBOM }) => {
  const decoder = new TextDecoder('utf-8', { fatal, ignoreBOM });
  const steps = [];
  try {
    for (const [index, chunk] of chunks.entries()) {
      steps.push(decoder.decode(new Uint8Array(chunk), { stream: index < chunks.length - 1 }));
    }
  } catch (error) { steps.push(error.name + error.code); }
  // After the end a decoder starts again; after a failure in mid-stream it continues.
  steps.push(decoder.decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])));
  return steps;
}`;
interface DecodeCase {
  chunks: number[][];
  fatal: boolean;
  ignoreBOM: boolean;
}

test('TextDecoder gives what Node gives for random bytes, whole and in chunks, fatal and not', () => {
  const random = seededRandom(8);
  const byte = (): number => {
    const interesting = [
      0x61, 0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0x9f, 0xa0, 0xed, 0xef, 0xbb, 0xbf, 0xf0, 0x8f, 0x90, 0xf4, 0xf5,
      0xff,
    ];
    return random() < 0.8
      ? (interesting[Math.floor(random() * interesting.length)] as number)
      : Math.floor(random() * 256);
  };
  const cases: DecodeCase[] = [];
  for (let count = 0; count < 4_000; count++) {
    const valid = random() < 0.3 ? [...new TextEncoder().encode('aé€😀\ufeff'.slice(Math.floor(random() * 4)))] : [];
    const bytes = [
      ...(random() < 0.2 ? [0xef, 0xbb, 0xbf] : []),
      ...valid,
      ...Array.from({ length: Math.floor(random() * 9) }, byte),
      ...valid,
    ];
    const chunks: number[][] = [];
    while (bytes.length > 0) chunks.push(bytes.splice(0, 1 + Math.floor(random() * 6)));
    cases.push({ chunks, fatal: random() < 0.3, ignoreBOM: random() < 0.3 });
  }
  const decode = evaluateInNode(DECODE) as (test: DecodeCase) => string[];
  const ours = guest.call(`(tests) => tests.map(${DECODE})`, cases) as string[][];
  expect(
    cases.flatMap((test, index) =>
      JSON.stringify(ours[index]) === JSON.stringify(decode(test))
        ? []
        : [{ test, ours: ours[index], node: decode(test) }],
    ),
  ).toEqual([]);
});

test('TextEncoder gives what Node gives for random text, encodeInto into every length too', () => {
  const random = seededRandom(9);
  const texts = Array.from({ length: 1_500 }, () =>
    Array.from(
      { length: Math.floor(random() * 12) },
      () => ['a', 'é', '€', '😀', '\ud83d', '\ude00', '\0', '\u07ff', '\uffff'][Math.floor(random() * 9)],
    ).join(''),
  );
  const source = `(text) => {
    const encoder = new TextEncoder();
    const into = Array.from({ length: 14 }, (_, length) => {
      const bytes = new Uint8Array(length).fill(255);
      return [encoder.encodeInto(text, bytes), [...bytes]];
    });
    return [[...encoder.encode(text)], into];
  }`;
  const encode = evaluateInNode(source) as (text: string) => unknown;
  expect(guest.call(`(texts) => texts.map(${source})`, texts)).toEqual(texts.map((text) => encode(text)));
});

test('long text and long bytes survive the cuts between pieces', () => {
  expect(
    guest.evaluate(`['a', 'é', '€', '😀', 'x😀', 'xé€'].map((unit) => {
      const text = unit.repeat(300000 / unit.length);
      const bytes = new TextEncoder().encode(text);
      const target = new Uint8Array(bytes.length);
      const { read, written } = new TextEncoder().encodeInto(text, target);
      return new TextDecoder().decode(bytes) === text && read === text.length && written === bytes.length
        && new TextDecoder('utf8', { fatal: true }).decode(target) === text;
    })`),
  ).toEqual([true, true, true, true, true, true]);
});

test.each([
  `return [new TextEncoder().encoding, new TextDecoder().encoding, new TextDecoder('utf8', { fatal: 1 }).fatal, new TextDecoder().ignoreBOM];`,
  `return ['unicode-1-1-utf-8', 'Unicode11UTF8', 'unicode20utf8', ' UTF-8\\n', 'utf8', 'x-unicode20utf8'].map((label) => new TextDecoder(label).encoding);`,
  `return ['utf', '', 'utf-8\\u00a0', 'utf-9', null].map((label) => { try { new TextDecoder(label); return 'fine'; } catch (error) { return error.name; } });`,
  `const buffer = new Uint8Array([1, 0x68, 0x69, 2]).buffer; return [new TextDecoder().decode(buffer), new TextDecoder().decode(new DataView(buffer, 1, 2)), new TextDecoder().decode(new Uint16Array(buffer, 2, 1)), new TextDecoder().decode(new Uint8Array(buffer).subarray(1, 3)), new TextDecoder().decode(), new TextDecoder().decode(undefined, {})];`,
  `return [[...new TextEncoder().encode()], [...new TextEncoder().encode(undefined)], [...new TextEncoder().encode(null)], [...new TextEncoder().encode(12.5)]];`,
  `return [TextEncoder.name, TextDecoder.name, TextEncoder.length, TextDecoder.length, String(new TextEncoder()), String(new TextDecoder())];`,
  ...[
    'TextEncoder()',
    'new TextDecoder().decode("x")',
    'new TextDecoder().decode({})',
    'new TextDecoder("utf-8", 5)',
    'TextDecoder.prototype.fatal',
    'new TextEncoder().encode(Symbol())',
    'new TextEncoder().encodeInto("a", [])',
    'TextDecoder.prototype.decode.call({})',
  ].map((expression) => `try { ${expression}; return 'fine'; } catch (error) { return error.name; }`),
])('TextEncoder and TextDecoder behave as in Node: %s', (body) => {
  expect(guest.evaluate(`(() => { ${body} })()`)).toEqual(
    evaluateInNode(`JSON.parse(JSON.stringify((() => { ${body} })()))`),
  );
});

test('an encoding that is not there says which one is', () => {
  expect(
    guest.evaluate(
      `(() => { try { new TextDecoder('latin1'); } catch (error) { return [error.name, error.message]; } })()`,
    ),
  ).toEqual(['RangeError', 'TextDecoder: the encoding "latin1" is not available here, only utf-8 is']);
});
