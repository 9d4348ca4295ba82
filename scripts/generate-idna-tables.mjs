// Writes src/worker/quickjs/guest/globals/idna-tables.ts from the Unicode 16 data that the dev dependency tr46 carries.
//
// The guest's engine knows case mapping, NFC and NFKC by itself, and UTS #46 is "NFKC, folded" nearly everywhere. So the
// tables hold only what the engine can't say: what is disallowed or ignored, the few mappings that differ, bidi classes
// and joining types. That is 6 KB of text in the image instead of the 1.3 MB of objects that the full table costs.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { QuickJS } from 'quickjs-wasi';

const require = createRequire(import.meta.url);
const mappingTable = require('tr46/lib/mappingTable.json');
const regexes = require('tr46/lib/regexes.js');
const MAPPED = 1;
const VALID = 2;
const DISALLOWED = 3;
const DEVIATION = 6;
const IGNORED = 7;
const CODE_POINTS = 0x110000;

const status = new Uint8Array(CODE_POINTS);
const mapping = new Map();
for (const [range, kind, target] of mappingTable) {
  const [first, last] = Array.isArray(range) ? range : [range, range];
  status.fill(kind, first, last + 1);
  if (kind === MAPPED) for (let point = first; point <= last; point++) mapping.set(point, target);
}
const isValid = (point) => status[point] === VALID || status[point] === DEVIATION;
const isSurrogate = (point) => point >= 0xd800 && point <= 0xdfff;

/** `gap,length,gap,length…` in base 36: gap from the end of the range before, length minus one. */
function encodeRanges(contains) {
  const numbers = [];
  let end = 0;
  for (let point = 0; point < CODE_POINTS; point++) {
    if (!contains(point)) continue;
    const first = point;
    while (point + 1 < CODE_POINTS && contains(point + 1)) point++;
    numbers.push(first - end, point - first);
    end = point;
  }
  return numbers.map((number) => number.toString(36)).join();
}

/** The engine's own idea of the mapping, which the guest uses wherever no exception is listed. */
async function engineMapping() {
  const engine = await QuickJS.create({ wasm: readFileSync(require.resolve('quickjs-wasi/quickjs.wasm')) });
  const text = engine
    .evalCode(
      `(() => { let out = ''; for (let point = 0x80; point < 0x110000; point++) {
        if (point >= 0xd800 && point <= 0xdfff) continue;
        const from = String.fromCodePoint(point), to = from.normalize('NFKC').toLowerCase().normalize('NFKC');
        if (to !== from) out += point + ':' + to + '\\n';
      } return out; })()`,
    )
    .toString();
  engine.dispose();
  return new Map(
    text
      .trimEnd()
      .split('\n')
      .map((line) => [Number.parseInt(line, 10), line.slice(line.indexOf(':') + 1)]),
  );
}

function encodeExceptions(engine) {
  const exceptions = [];
  for (let point = 0x80; point < CODE_POINTS; point++) {
    if (isSurrogate(point) || status[point] === DISALLOWED || status[point] === IGNORED) continue;
    const from = String.fromCodePoint(point);
    const wanted = mapping.get(point) ?? from;
    if (wanted !== (engine.get(point) ?? from)) exceptions.push(from + wanted);
  }
  return exceptions.join('|');
}

/** `classLength…`: runs over the valid code points; what is not valid never reaches the check and takes any class. */
function encodeBidiRuns() {
  const runs = [];
  let current = 'O';
  let start = 0;
  for (let point = 0; point < CODE_POINTS; point++) {
    if (!isValid(point) || isNonspacing(point)) continue;
    const bidiClass = bidiClassOf(String.fromCodePoint(point));
    if (bidiClass === current) continue;
    runs.push(current + (point - start).toString(36));
    current = bidiClass;
    start = point;
  }
  runs.push(current);
  return runs.join();
}
function bidiClassOf(text) {
  if (regexes.bidiS1LTR.test(text)) return 'L';
  if (regexes.bidiS1RTL.test(text)) return 'R';
  if (regexes.bidiS4AN.test(text)) return 'A';
  if (regexes.bidiS4EN.test(text)) return 'E';
  return 'O';
}
function isNonspacing(point) {
  const text = String.fromCodePoint(point);
  return !regexes.bidiS6.test(text) && regexes.bidiS6.test(`a${text}`);
}

const [, before, , transparent, after] =
  /^(\[.*?\])(\[.*?\])\*\\u200C(\[.*?\])\*(\[.*?\])$/u.exec(regexes.validZWNJ.source) ??
  (() => {
    throw new Error('tr46 writes its ZWNJ rule differently now: look at validZWNJ in its lib/regexes.js');
  })();
const matches = (source) => {
  const pattern = new RegExp(source, 'u');
  return (point) => isValid(point) && pattern.test(String.fromCodePoint(point));
};

const tables = {
  DISALLOWED_RANGES: encodeRanges((point) => status[point] === DISALLOWED && !isSurrogate(point)),
  IGNORED_RANGES: encodeRanges((point) => status[point] === IGNORED),
  MAPPING_EXCEPTIONS: encodeExceptions(await engineMapping()),
  BIDI_RUNS: encodeBidiRuns(),
  NONSPACING_RANGES: encodeRanges((point) => isValid(point) && isNonspacing(point)),
  VIRAMA_RANGES: encodeRanges(matches(regexes.combiningClassVirama.source)),
  JOINS_NEXT_RANGES: encodeRanges(matches(before)),
  JOINS_PREVIOUS_RANGES: encodeRanges(matches(after)),
  TRANSPARENT_RANGES: encodeRanges(matches(transparent)),
};
const notes = {
  DISALLOWED_RANGES: 'Code points that no host may hold (surrogates aside).',
  IGNORED_RANGES: 'Code points that vanish.',
  MAPPING_EXCEPTIONS: 'Code point and replacement, wherever the engine’s own folding gives another answer.',
  BIDI_RUNS: 'Bidi classes in runs: L, R (and AL), A (AN), E (EN), O (any other); a nonspacing mark is in none.',
  NONSPACING_RANGES: 'Bidi class NSM.',
  VIRAMA_RANGES: 'Canonical combining class 9: what may stand before a joiner.',
  JOINS_NEXT_RANGES: 'Joining types L and D.',
  JOINS_PREVIOUS_RANGES: 'Joining types R and D.',
  TRANSPARENT_RANGES: 'Joining type T.',
};
const body = Object.entries(tables)
  .map(([name, value]) => `/** ${notes[name]} */\nexport const ${name} =\n  '${value}';\n`)
  .join('\n');
writeFileSync(
  new URL('../src/worker/quickjs/guest/globals/idna-tables.ts', import.meta.url),
  `// Generated by scripts/generate-idna-tables.mjs from Unicode 16 (UTS #46). Ranges are base 36: gap, length minus one.\n\n${body}`,
);
for (const [name, value] of Object.entries(tables)) console.log(name, value.length);
