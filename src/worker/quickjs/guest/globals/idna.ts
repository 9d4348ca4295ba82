// Domain to ASCII of the URL standard: UTS #46, non-transitional, CheckBidi and CheckJoiners on, CheckHyphens, UseSTD3ASCIIRules
// and VerifyDnsLength off. The tables are parsed for the first host that needs them.
import {
  BIDI_RUNS,
  DISALLOWED_RANGES,
  IGNORED_RANGES,
  JOINS_NEXT_RANGES,
  JOINS_PREVIOUS_RANGES,
  MAPPING_EXCEPTIONS,
  NONSPACING_RANGES,
  TRANSPARENT_RANGES,
  VIRAMA_RANGES,
} from './idna-tables.js';
import { decodePunycode, encodePunycode } from './punycode.js';

const ASCII_ONLY = /^[\0-\x7f]*$/;
const ASCII_PREFIX = 'xn--';
const ZERO_WIDTH_NON_JOINER = 0x200c;
const ZERO_WIDTH_JOINER = 0x200d;

/** The ASCII form of a domain, in lower case; undefined if UTS #46 finds an error. Forbidden characters are not checked here. */
export function domainToAscii(domain: string): string | undefined {
  if (ASCII_ONLY.test(domain)) {
    const lower = domain.toLowerCase();
    // The standard itself allows this shortcut: without Punycode, ASCII is only lowercased.
    if (!lower.startsWith(ASCII_PREFIX) && !lower.includes('.xn--')) return lower;
  }
  const mapped = mapDomain(domain);
  if (mapped === undefined) return undefined;
  const labels: string[] = [];
  for (const label of mapped.split('.')) {
    const decoded = label.startsWith(ASCII_PREFIX) ? decodeLabel(label) : label;
    if (decoded === undefined) return undefined;
    labels.push(decoded);
  }
  const isBidi = labels.some((label) => anyCodePoint(label, (point) => 'RA'.includes(bidiClassOf(point))));
  const ascii: string[] = [];
  for (const label of labels) {
    if (!isValidLabel(label, isBidi)) return undefined;
    const encoded = ASCII_ONLY.test(label) ? label : encodePunycode(label);
    if (encoded === undefined) return undefined;
    ascii.push(encoded === label ? label : ASCII_PREFIX + encoded);
  }
  return ascii.join('.');
}

function mapDomain(domain: string): string | undefined {
  let mapped = '';
  for (const character of domain) {
    const point = character.codePointAt(0) as number;
    if (point < 0x80) mapped += character.toLowerCase();
    else if (isDisallowed(point)) return undefined;
    else if (!isIgnored(point)) mapped += mapCharacter(character);
  }
  return mapped.normalize('NFC');
}

function mapCharacter(character: string): string {
  return exceptions().get(character) ?? character.normalize('NFKC').toLowerCase().normalize('NFKC');
}

function decodeLabel(label: string): string | undefined {
  const decoded = decodePunycode(label.slice(ASCII_PREFIX.length));
  // An empty or all-ASCII label must not be in Punycode.
  return decoded === undefined || ASCII_ONLY.test(decoded) ? undefined : decoded;
}

function isValidLabel(label: string, isBidi: boolean): boolean {
  if (label === '') return true;
  if (label.startsWith(ASCII_PREFIX) || label.normalize('NFC') !== label || /^\p{M}/u.test(label)) return false;
  if (anyCodePoint(label, isInvalid)) return false;
  const points = Array.from(label, (character) => character.codePointAt(0) as number);
  return joinersAreInContext(points) && (!isBidi || satisfiesBidiRule(points));
}

/** RFC 5892, appendix A.1 and A.2. */
function joinersAreInContext(points: readonly number[]): boolean {
  return points.every((point, index) => {
    if (point !== ZERO_WIDTH_NON_JOINER && point !== ZERO_WIDTH_JOINER) return true;
    const previous = points[index - 1];
    if (previous === undefined) return false;
    if (isIn(table('virama', VIRAMA_RANGES), previous)) return true;
    if (point === ZERO_WIDTH_JOINER) return false;
    const transparent = table('transparent', TRANSPARENT_RANGES);
    const before = points.findLast((other, at) => at < index && !isIn(transparent, other));
    const after = points.find((other, at) => at > index && !isIn(transparent, other));
    return (
      before !== undefined &&
      after !== undefined &&
      isIn(table('joinsNext', JOINS_NEXT_RANGES), before) &&
      isIn(table('joinsPrevious', JOINS_PREVIOUS_RANGES), after)
    );
  });
}

/** RFC 5893, section 2, over the classes L, R (with AL), A (AN), E (EN), N (NSM) and O (the rest). */
function satisfiesBidiRule(points: readonly number[]): boolean {
  const classes = points.map(bidiClassOf).join('');
  if (classes.startsWith('L')) return /^[LEON]*[LE]N*$/.test(classes);
  return /^R[RAEON]*$/.test(classes) && /[RAE]N*$/.test(classes) && !(classes.includes('A') && classes.includes('E'));
}

function bidiClassOf(point: number): string {
  if (isIn(table('nonspacing', NONSPACING_RANGES), point)) return 'N';
  const { starts, classes } = bidiRuns();
  return classes[lastAtOrBelow(starts, point)] ?? 'O';
}

/** Mapped code points are valid; only Punycode can contain code points that the mapping would change or drop. */
function isInvalid(point: number): boolean {
  if (point < 0x80) return false;
  const character = String.fromCodePoint(point);
  return isDisallowed(point) || isIgnored(point) || mapCharacter(character) !== character;
}

function isIgnored(point: number): boolean {
  return isIn(table('ignored', IGNORED_RANGES), point);
}

function isDisallowed(point: number): boolean {
  return (point >= 0xd800 && point <= 0xdfff) || isIn(table('disallowed', DISALLOWED_RANGES), point);
}

function anyCodePoint(text: string, test: (point: number) => boolean): boolean {
  for (const character of text) if (test(character.codePointAt(0) as number)) return true;
  return false;
}

// ---- the tables, parsed once per run at most ----

/** Even indices hold the first code point of a range, odd ones the first code point after it. */
const parsedRanges: Record<string, number[]> = {};
let parsedExceptions: Map<string, string> | undefined;
let parsedBidiRuns: { starts: number[]; classes: string[] } | undefined;

function table(name: string, source: string): number[] {
  let ranges = parsedRanges[name];
  if (ranges === undefined) {
    ranges = [];
    let end = 0;
    for (const [index, text] of source.split(',').entries()) {
      end += Number.parseInt(text, 36);
      ranges.push(index % 2 === 0 ? end : end + 1);
    }
    parsedRanges[name] = ranges;
  }
  return ranges;
}

function exceptions(): Map<string, string> {
  parsedExceptions ??= new Map(
    MAPPING_EXCEPTIONS.split('|').map((entry) => {
      const from = String.fromCodePoint(entry.codePointAt(0) as number);
      return [from, entry.slice(from.length)];
    }),
  );
  return parsedExceptions;
}

function bidiRuns(): { starts: number[]; classes: string[] } {
  if (parsedBidiRuns === undefined) {
    parsedBidiRuns = { starts: [], classes: [] };
    let start = 0;
    for (const run of BIDI_RUNS.split(',')) {
      parsedBidiRuns.starts.push(start);
      parsedBidiRuns.classes.push(run.charAt(0));
      start += Number.parseInt(run.slice(1) || '0', 36);
    }
  }
  return parsedBidiRuns;
}

function isIn(ranges: readonly number[], point: number): boolean {
  return lastAtOrBelow(ranges, point) % 2 === 0;
}

/** Index of the last entry that is not greater than `point`, or -1. */
function lastAtOrBelow(sorted: readonly number[], point: number): number {
  let low = -1;
  let high = sorted.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) <= point) low = middle;
    else high = middle;
  }
  return low;
}
