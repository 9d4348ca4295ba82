import { safeSlice } from '../lib/text/safe-slice.js';

/** The share of the room for the beginning. The end is where a program prints its result, or why it failed. */
const HEAD_PART = 0.4;
/** The most of the room that one line takes. */
const LINE_PART = 0.5;

/** The first and last lines of a program's output, in about `most` characters. One line says how many are omitted. */
export function linesWithin(text: string, most: number): string {
  if (text.length <= most) return text;
  const isEnded = text.endsWith('\n');
  const lines = (isEnded ? text.slice(0, -1) : text).split('\n');
  const longest = Math.floor(most * LINE_PART);
  const head: string[] = [];
  const tail: string[] = [];
  let room = most * HEAD_PART;
  for (const line of lines) {
    const shown = shortened(line, longest);
    room -= shown.length + 1;
    if (room < 0) break;
    head.push(shown);
  }
  room = most * (1 - HEAD_PART);
  for (let at = lines.length - 1; at >= head.length; at -= 1) {
    const shown = shortened(lines[at] ?? '', longest);
    room -= shown.length + 1;
    if (room < 0) break;
    tail.unshift(shown);
  }
  const [first, last] = [head.length + 1, lines.length - tail.length];
  const left = first > last ? [] : [leftOut(first, last, lines.length)];
  return `${[...head, ...left, ...tail].join('\n')}${isEnded ? '\n' : ''}`;
}

function leftOut(first: number, last: number, all: number): string {
  const which = first === last ? `line ${first} of ${all} is` : `lines ${first} to ${last} of ${all} are`;
  return `<TRUNCATED: ${which} left out; print less>`;
}

function shortened(line: string, most: number): string {
  if (line.length <= most) return line;
  const begin = safeSlice(line, most);
  return `${begin}… <TRUNCATED: ${line.length - begin.length} more characters; print less>`;
}
