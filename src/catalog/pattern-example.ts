/**
 * A short string that a regular expression matches, or `undefined` if the expression is too complex for this reader. The expression
 * is untrusted and only read, never run: it may backtrack for hours. Look-arounds are skipped, so the result can be wrong for
 * patterns that have them.
 */
export function examplePatternMatch(pattern: string, minimumLength = 0): string | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return undefined;
  let longest: string | undefined;
  // Every unbounded repetition is extended by one at a time, until the whole is long enough.
  for (let extra = 0; extra <= Math.min(minimumLength, MAX_EXTRA); extra += 1) {
    const text = new PatternReader(pattern, extra).read();
    if (text === undefined || text.length > MAX_RESULT_LENGTH) return longest;
    longest = text;
    if (text.length >= minimumLength) return text;
  }
  return longest;
}

const MAX_PATTERN_LENGTH = 500;
const MAX_RESULT_LENGTH = 300;
const MAX_EXTRA = 64;
const MAX_NESTING = 16;

type CharacterTest = (character: string) => boolean;
const CLASS_ESCAPES: Readonly<Record<string, { readonly sample: string; readonly test: CharacterTest }>> = {
  d: { sample: '1', test: (character) => /\d/.test(character) },
  w: { sample: 'a', test: (character) => /\w/.test(character) },
  s: { sample: ' ', test: (character) => /\s/.test(character) },
  D: { sample: 'a', test: (character) => /\D/.test(character) },
  W: { sample: '-', test: (character) => /\W/.test(character) },
  S: { sample: 'a', test: (character) => /\S/.test(character) },
};
const CONTROL_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v', 0: '\0' };

/** Reads `a|b`, sequences, groups, classes and quantifiers, and writes the first path through them. */
class PatternReader {
  readonly #pattern: string;
  readonly #extra: number;
  #at = 0;
  #isBeyond = false;

  constructor(pattern: string, extra: number) {
    this.#pattern = pattern;
    this.#extra = extra;
  }

  read(): string | undefined {
    const text = this.#alternatives(0);
    return this.#isBeyond || this.#at < this.#pattern.length ? undefined : text;
  }

  #alternatives(nesting: number): string {
    if (nesting > MAX_NESTING) return this.#giveUp();
    const first = this.#sequence(nesting);
    while (this.#take('|')) this.#sequence(nesting);
    return first;
  }

  #sequence(nesting: number): string {
    let text = '';
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#peek()) && !this.#isBeyond) {
      const atom = this.#atom(nesting);
      text += this.#repeated(atom);
      if (text.length > MAX_RESULT_LENGTH) return this.#giveUp();
    }
    return text;
  }

  #atom(nesting: number): string {
    const character = this.#next();
    switch (character) {
      case '^':
      case '$':
        return '';
      case '.':
        return 'a';
      case '(':
        return this.#group(nesting);
      case '[':
        return this.#characterClass();
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        return this.#giveUp();
      default:
        return character;
    }
  }

  #group(nesting: number): string {
    const prefix = /^\?(?:[:=!]|<[=!]|<[A-Za-z_]\w*>)/.exec(this.#pattern.slice(this.#at, this.#at + 40))?.[0] ?? '';
    if (prefix === '' && this.#peek() === '?') return this.#giveUp();
    this.#at += prefix.length;
    const inner = this.#alternatives(nesting + 1);
    if (!this.#take(')')) return this.#giveUp();
    return /[=!]$/.test(prefix) ? '' : inner;
  }

  #escape(): string {
    const character = this.#next();
    if (character === 'b' || character === 'B') return '';
    const known = CLASS_ESCAPES[character]?.sample ?? CONTROL_ESCAPES[character];
    if (known !== undefined) return known;
    if (character === 'u' || character === 'x') return this.#codePoint(character);
    return /[A-Za-z1-9]/.test(character) || character === '' ? this.#giveUp() : character;
  }

  #codePoint(kind: string): string {
    const digits = (kind === 'x' ? /^[\da-f]{2}/i : /^[\da-f]{4}/i).exec(
      this.#pattern.slice(this.#at, this.#at + 4),
    )?.[0];
    if (digits === undefined) return this.#giveUp();
    this.#at += digits.length;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #characterClass(): string {
    const isNegated = this.#take('^');
    const samples: string[] = [];
    const tests: CharacterTest[] = [];
    while (!this.#take(']')) {
      if (this.#at >= this.#pattern.length) return this.#giveUp();
      const escaped = this.#peek() === '\\' ? CLASS_ESCAPES[this.#pattern[this.#at + 1] ?? ''] : undefined;
      if (escaped !== undefined) {
        this.#at += 2;
        samples.push(escaped.sample);
        tests.push(escaped.test);
        continue;
      }
      const from = this.#classCharacter();
      const isRange = this.#peek() === '-' && !['', ']'].includes(this.#pattern[this.#at + 1] ?? '');
      if (isRange) this.#at += 1;
      const to = isRange ? this.#classCharacter() : from;
      samples.push(from);
      tests.push((character) => character >= from && character <= to);
    }
    if (!isNegated) return samples.find((sample) => /[A-Za-z0-9]/.test(sample)) ?? samples[0] ?? this.#giveUp();
    return [...'a0A-_ ~\n'].find((candidate) => !tests.some((test) => test(candidate))) ?? this.#giveUp();
  }

  #classCharacter(): string {
    const character = this.#next();
    return character === '\\' ? this.#escape() : character;
  }

  #repeated(atom: string): string {
    const quantifier = /^(?:[*+?]|\{(\d{1,4})(,(\d{0,4}))?\})\??/.exec(this.#pattern.slice(this.#at, this.#at + 16));
    if (quantifier === null) return atom;
    this.#at += quantifier[0].length;
    const [text, least, range, most] = quantifier;
    const minimum = least === undefined ? (text.startsWith('+') ? 1 : 0) : Number(least);
    const isBounded = text.startsWith('?') || (least !== undefined && (range === undefined || most !== ''));
    const maximum = text.startsWith('?')
      ? 1
      : least !== undefined && range === undefined
        ? minimum
        : most
          ? Number(most)
          : 0;
    const count = isBounded ? Math.min(maximum, minimum + this.#extra) : minimum + this.#extra;
    return count * atom.length > MAX_RESULT_LENGTH ? this.#giveUp() : atom.repeat(count);
  }

  #peek(): string {
    return this.#pattern[this.#at] ?? '';
  }

  #next(): string {
    const character = this.#peek();
    this.#at += 1;
    return character;
  }

  #take(expected: string): boolean {
    if (this.#peek() !== expected) return false;
    this.#at += 1;
    return true;
  }

  #giveUp(): string {
    this.#isBeyond = true;
    return '';
  }
}
