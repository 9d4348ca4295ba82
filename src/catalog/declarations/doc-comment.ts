import { clipText, visibleText, withoutMarkup } from '../../lib/text/visible-text.js';

/**
 * Lines of an untrusted text for a TypeScript block comment: visible characters only, no end of comment, no code fence
 * (declarations are shown in fenced blocks), no chat-template tag, no line that looks like one of our own tags, no blank lines.
 */
export function commentLines(text: string, maximumLength: number): string[] {
  return clipText(visibleText(text).trim(), maximumLength)
    .split('\n')
    .map((line) => harmless(line.trim().replace(/ {2,}/g, ' ')))
    .filter((line) => line !== '');
}

/** The same for a text that must stay on one line. */
export function commentLine(text: string, maximumLength: number): string {
  return harmless(clipText(visibleText(text).replace(/\s+/g, ' ').trim(), maximumLength));
}

/** The first sentence, for places that have room for one only. */
export function firstSentence(text: string): string {
  const [line = ''] = visibleText(text).trimStart().split('\n', 1);
  return SENTENCE.exec(line)?.[0] ?? line;
}

/** A short text unchanged, else as many of its first sentences as fit, on one line. A first sentence that is too long is cut. */
export function firstSentences(text: string, maximum: number): string {
  if (text.length <= maximum) return text;
  const line = visibleText(text.slice(0, 4 * maximum))
    .replace(/\s+/g, ' ')
    .trim();
  let end = 0;
  for (;;) {
    const next = SENTENCE.exec(line.slice(end))?.[0];
    if (next === undefined || end + next.length > maximum) break;
    end += next.length;
  }
  return end === 0 ? clipText(line, maximum) : line.slice(0, end);
}

/** A block comment of escaped lines. Empty if there are no lines. */
export function docComment(lines: readonly string[], indent: string): string {
  const [first] = lines;
  if (first === undefined) return '';
  if (lines.length === 1) return `${indent}/** ${first} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}

// "e.g. " and similar abbreviations do not end a sentence. The text has no line breaks, and the match is lazy and linear.
const SENTENCE = /^.*?(?<!\b(?:e\.g|i\.e|etc|vs|cf|incl))[.!?](?=\s|$)/;

function harmless(line: string): string {
  return withoutMarkup(line)
    .replaceAll('*/', '*\\/')
    .replace(/`{3,}|~{3,}/g, "'''")
    .replace(/^@/, '\\@');
}
