// RFC 3492 with the parameters of IDNA.

const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const INITIAL_BIAS = 72;
const INITIAL_N = 0x80;
const MAX_CODE_POINT = 0x10ffff;
const DIGITS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** The longest label that is decoded: DNS allows 63 characters, the URL standard more. Beyond this the quadratic work is too much. */
const MAX_LABEL_CHARACTERS = 8_192;

/** Decodes the part after `xn--` to Unicode; undefined if it is not Punycode. */
export function decodePunycode(input: string): string | undefined {
  if (input.length > MAX_LABEL_CHARACTERS || /[^\0-\x7f]/.test(input)) return undefined;
  const delimiter = input.lastIndexOf('-');
  const output: string[] = delimiter > 0 ? input.slice(0, delimiter).split('') : [];
  let position = delimiter > 0 ? delimiter + 1 : 0;
  let n = INITIAL_N;
  let bias = INITIAL_BIAS;
  let i = 0;
  while (position < input.length) {
    const before = i;
    let weight = 1;
    for (let k = BASE; ; k += BASE) {
      const digit = digitValue(input.charCodeAt(position++));
      if (digit < 0) return undefined;
      i += digit * weight;
      if (i > 0x7fffffff) return undefined;
      const threshold = thresholdAt(k, bias);
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const count = output.length + 1;
    bias = adapt(i - before, count, before === 0);
    n += Math.floor(i / count);
    if (n > MAX_CODE_POINT || (n >= 0xd800 && n <= 0xdfff)) return undefined;
    i %= count;
    output.splice(i++, 0, String.fromCodePoint(n));
  }
  return output.join('');
}

/** Encodes Unicode to the part after `xn--`; undefined for a label over the limit. */
export function encodePunycode(label: string): string | undefined {
  if (label.length > MAX_LABEL_CHARACTERS) return undefined;
  const points: number[] = [];
  let output = '';
  for (const character of label) {
    const point = character.codePointAt(0) as number;
    points.push(point);
    if (point < INITIAL_N) output += character;
  }
  const basicLength = output.length;
  let handled = basicLength;
  if (basicLength > 0) output += '-';
  let n = INITIAL_N;
  let delta = 0;
  let bias = INITIAL_BIAS;
  while (handled < points.length) {
    let next = MAX_CODE_POINT;
    for (const point of points) if (point >= n && point < next) next = point;
    delta += (next - n) * (handled + 1);
    n = next;
    for (const point of points) {
      if (point < n) delta++;
      if (point !== n) continue;
      output += encodeDelta(delta, bias);
      bias = adapt(delta, handled + 1, handled === basicLength);
      delta = 0;
      handled++;
    }
    delta++;
    n++;
  }
  return output;
}

function encodeDelta(delta: number, bias: number): string {
  let output = '';
  let rest = delta;
  for (let k = BASE; ; k += BASE) {
    const threshold = thresholdAt(k, bias);
    if (rest < threshold) return output + DIGITS.charAt(rest);
    output += DIGITS.charAt(threshold + ((rest - threshold) % (BASE - threshold)));
    rest = Math.floor((rest - threshold) / (BASE - threshold));
  }
}

function thresholdAt(k: number, bias: number): number {
  return Math.min(Math.max(k - bias, T_MIN), T_MAX);
}

function adapt(delta: number, count: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / count);
  let k = 0;
  while (rest > ((BASE - T_MIN) * T_MAX) / 2) {
    rest = Math.floor(rest / (BASE - T_MIN));
    k += BASE;
  }
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}

/** -1 for anything that is not a digit, including the end of the input (NaN). */
function digitValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 26;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a ? lower - 0x61 : -1;
}
