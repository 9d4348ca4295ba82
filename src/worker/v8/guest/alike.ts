/** Makes V8 behave like QuickJS for features that both engines have and V8 implements differently. */
const { defineProperty } = Object;
const { apply, construct } = Reflect;
const { floor, min: smaller } = Math;

/** The functions that this code gets from the process, in addition to those in QuickJS. */
interface V8Functions {
  /** One read of the program's clock, in milliseconds. */
  now(): number;
  /** An exception that ends the program at once. */
  fatal(error: unknown): void;
}

function takeFunctions(): V8Functions {
  const global = globalThis as unknown as Record<string, unknown>;
  const taken = { now: global['__host_now'], fatal: global['__host_fatal'] } as V8Functions;
  delete global['__host_now'];
  delete global['__host_fatal'];
  return taken;
}

const { now, fatal } = takeFunctions();

export function makeAlike(): void {
  replaceDate();
  replaceText();
  replaceRandom();
  const resolved = Promise.resolve();
  const { then } = Promise.prototype;
  method(globalThis, 'queueMicrotask', function queueMicrotask(callback: () => void) {
    if (typeof callback !== 'function') throw new TypeError('not a function');
    void apply(then, resolved, [
      () => {
        try {
          callback();
        } catch (error) {
          fatal(error);
        }
      },
    ]);
  });
}

function replaceDate(): void {
  const NativeDate = Date;
  const { prototype } = NativeDate;
  const Replaced = function (...input: unknown[]): unknown {
    if (new.target === undefined) return apply(prototype.toString, new NativeDate(now()), []);
    return construct(NativeDate, input.length === 0 ? [now()] : input, new.target);
  };
  defineProperty(Replaced, 'name', { value: 'Date', configurable: true });
  defineProperty(Replaced, 'length', { value: 7, configurable: true });
  defineProperty(Replaced, 'prototype', { value: prototype, writable: false, configurable: false });
  method(Replaced, 'now', function now_() {
    return now();
  });
  defineProperty((Replaced as unknown as { now: unknown }).now, 'name', { value: 'now', configurable: true });
  for (const name of ['parse', 'UTC'] as const) method(Replaced, name, NativeDate[name]);
  method(prototype, 'constructor', Replaced);
  method(globalThis, 'Date', Replaced);
  replaceDateText(prototype);
}

/** QuickJS has no locales, and programs use UTC. */
function replaceDateText(prototype: Date): void {
  const { toDateString, toISOString, getTime } = prototype;
  const two = (value: number) => (value < 10 ? '0' : '') + value;
  const partsOf = (date: Date) => {
    const iso = apply(toISOString, date, []) as string;
    const time = iso.slice(-13, -5);
    const [year = '', month = '', day = ''] = [iso.slice(0, -20), iso.slice(-19, -17), iso.slice(-16, -14)];
    return { time, year, month, day };
  };
  const dated = (date: Date) => {
    const { year, month, day } = partsOf(date);
    return `${month}/${day}/${year.replace('+', '')}`;
  };
  const timed = (date: Date) => {
    const { time } = partsOf(date);
    const hour = Number(time.slice(0, 2));
    return two(hour % 12 === 0 ? 12 : hour % 12) + time.slice(2) + (hour < 12 ? ' AM' : ' PM');
  };
  const zoned = (date: Date) => `${partsOf(date).time} GMT+0000`;
  const forms: Record<string, (date: Date) => string> = {
    toString: (date: Date) => `${apply(toDateString, date, []) as string} ${zoned(date)}`,
    toTimeString: zoned,
    toLocaleString: (date: Date) => `${dated(date)}, ${timed(date)}`,
    toLocaleDateString: dated,
    toLocaleTimeString: timed,
  };
  for (const name of Object.keys(forms)) {
    const form = forms[name] as (date: Date) => string;
    // A method, because methods have no `prototype` property.
    const { made } = {
      made(this: Date) {
        return Number.isNaN(apply(getTime, this, [])) ? 'Invalid Date' : form(this);
      },
    };
    defineProperty(made, 'name', { value: name, configurable: true });
    method(prototype, name, made);
  }
}

function replaceText(): void {
  const { toLowerCase, toUpperCase, normalize } = String.prototype;
  const numberText = Number.prototype.toString;
  const BEYOND_LATIN = /[\u0300-\uffff]/;
  const { test } = RegExp.prototype;
  const methods = {
    toLocaleLowerCase(this: string) {
      return apply(toLowerCase, this, []) as string;
    },
    toLocaleUpperCase(this: string) {
      return apply(toUpperCase, this, []) as string;
    },
    /** Compares code points of the composed form: there is no collation. */
    localeCompare(this: string, that: unknown) {
      let left = String(this);
      let right = String(that);
      if (left === right) return 0;
      if ((apply(test, BEYOND_LATIN, [left]) as boolean) || (apply(test, BEYOND_LATIN, [right]) as boolean)) {
        left = apply(normalize, left, []) as string;
        right = apply(normalize, right, []) as string;
        return compareCodePoints(left, right);
      }
      return left < right ? -1 : 1;
    },
  };
  for (const name of Object.keys(methods)) method(String.prototype, name, (methods as Record<string, unknown>)[name]);
  const { made } = {
    made(this: number) {
      return apply(numberText, this, []) as string;
    },
  };
  defineProperty(made, 'name', { value: 'toLocaleString', configurable: true });
  method(Number.prototype, 'toLocaleString', made);
}

function compareCodePoints(left: string, right: string): number {
  const { codePointAt } = String.prototype;
  const most = smaller(left.length, right.length);
  for (let at = 0; at < most; at++) {
    const one = apply(codePointAt, left, [at]) as number;
    const other = apply(codePointAt, right, [at]) as number;
    if (one !== other) return one < other ? -1 : 1;
  }
  return left.length === right.length ? 0 : left.length < right.length ? -1 : 1;
}

/** xorshift64*, as in QuickJS, in halves: 64-bit integers would be slow BigInts here. */
let high = 0;
let low = 1;

export function seedRandom(highWord: number, lowWord: number): void {
  high = highWord | 0;
  low = lowWord | 0;
}

const MULTIPLIER_HIGH = 0x2545f491;
const MULTIPLIER_LOW = 0x4f6cdd1d;

function replaceRandom(): void {
  const { imul } = Math;
  const { random } = {
    random() {
      // state ^= state >> 12
      let lowWord = low ^ ((low >>> 12) | (high << 20));
      let highWord = high ^ (high >>> 12);
      // state ^= state << 25
      highWord ^= (highWord << 25) | (lowWord >>> 7);
      lowWord ^= lowWord << 25;
      // state ^= state >> 27
      const shifted = (lowWord >>> 27) | (highWord << 5);
      highWord ^= highWord >>> 27;
      lowWord ^= shifted;
      high = highWord;
      low = lowWord;
      // The lower 64 bits of the product; their upper 52 bits are the fraction.
      const a = lowWord & 0xffff;
      const b = lowWord >>> 16;
      const c = MULTIPLIER_LOW & 0xffff;
      const d = MULTIPLIER_LOW >>> 16;
      const middle = b * c + ((a * c) >>> 16);
      const carried = a * d + (middle & 0xffff);
      const productLow = imul(lowWord, MULTIPLIER_LOW);
      // Numbers up to 2^33, so they are divided, not shifted.
      const upper = b * d + floor(middle / 65_536) + floor(carried / 65_536);
      const productHigh = (upper | 0) + imul(highWord, MULTIPLIER_LOW) + imul(lowWord, MULTIPLIER_HIGH);
      return ((productHigh >>> 0) * 1_048_576 + (productLow >>> 12)) / 4_503_599_627_370_496;
    },
  };
  method(Math, 'random', random);
}

function method(target: object, name: string, value: unknown): void {
  defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
}
