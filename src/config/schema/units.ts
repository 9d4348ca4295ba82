import * as z from 'zod';

const DURATION_UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** As in the published contracts: `128MB` is 134,217,728 bytes. */
const SIZE_UNITS_BYTES = {
  b: 1,
  kb: 1024,
  kib: 1024,
  mb: 1024 ** 2,
  mib: 1024 ** 2,
  gb: 1024 ** 3,
  gib: 1024 ** 3,
} as const;

/** The meaning of a key and one example value. `docs/reference/config.md` is generated from it. */
export function means(description: string, example: string) {
  return { description, example };
}

/** `30s`, `500ms`, `2m`, `1.5h`, or a number of milliseconds; becomes milliseconds. */
export function duration(bounds: { minMs?: number; maxMs?: number } = {}) {
  const { minMs = 0, maxMs = Number.MAX_SAFE_INTEGER } = bounds;
  return quantity('a duration such as 30s, 500ms or 2m', DURATION_UNITS_MS, 'ms', minMs, maxMs).meta({
    kind: 'duration',
  });
}

/** `128MB`, `64KB`, `1GB`, or a number of bytes; becomes bytes. */
export function size(bounds: { minBytes?: number; maxBytes?: number } = {}) {
  const { minBytes = 0, maxBytes = Number.MAX_SAFE_INTEGER } = bounds;
  return quantity('a size such as 128MB or 64KB', SIZE_UNITS_BYTES, ' bytes', minBytes, maxBytes).meta({
    kind: 'size',
  });
}

/** A whole number, also as text, because environment variables have no other form. */
export function integer(min: number, max: number) {
  const expected = `a whole number from ${min} to ${max}`;
  return z
    .union([z.number(), z.string()], { error: expected })
    .transform((input, context) => {
      const value = typeof input === 'number' ? input : /^-?\d{1,15}$/.test(input) ? Number(input) : Number.NaN;
      if (Number.isInteger(value) && value >= min && value <= max) return value;
      context.issues.push({ code: 'custom', message: expected, input });
      return z.NEVER;
    })
    .meta({ kind: expected.replace('a whole', 'whole') });
}

/** `true` or `false`, also as text. */
export function flag() {
  return z
    .union([z.boolean(), z.literal('true'), z.literal('false')], { error: 'true or false' })
    .transform((input) => input === true || input === 'true')
    .meta({ kind: '`true` or `false`' });
}

/** `true`, `false` or `auto`. */
export function flagOrAuto() {
  return z
    .union([z.boolean(), z.literal('true'), z.literal('false'), z.literal('auto')], { error: 'true, false or auto' })
    .transform((input) => (input === 'auto' ? input : input === true || input === 'true'))
    .meta({ kind: '`true`, `false` or `auto`' });
}

function quantity(expected: string, units: Readonly<Record<string, number>>, unit: string, min: number, max: number) {
  return z.union([z.number(), z.string()], { error: expected }).transform((input, context) => {
    const value = typeof input === 'number' ? input : parseQuantity(input, units);
    const problem =
      value === undefined || !Number.isFinite(value)
        ? expected
        : value < min
          ? `${expected}, at least ${min}${unit}`
          : value > max
            ? `${expected}, at most ${max}${unit}`
            : undefined;
    if (problem === undefined) return Math.round(value as number);
    context.issues.push({ code: 'custom', message: problem, input });
    return z.NEVER;
  });
}

function parseQuantity(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const match = /^\s*(\d{1,15}(?:\.\d{1,6})?)\s*([a-z]{0,3})\s*$/i.exec(text);
  if (match === null) return undefined;
  const unit = (match[2] ?? '').toLowerCase();
  const factor = unit === '' ? 1 : Object.hasOwn(units, unit) ? units[unit] : undefined;
  return factor === undefined ? undefined : Number(match[1]) * factor;
}
