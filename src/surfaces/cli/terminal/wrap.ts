import { displayWidth } from './display-width.js';
import { terminalWidth } from './terminal.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: a style takes no column
const STYLES = /\u001b\[\d+m/g;

/**
 * Wraps lines that are wider than the terminal between words, and indents the rest of a line like its start. A terminal itself
 * breaks in the middle of a word. Without a terminal nothing changes.
 */
export function wrapLines(text: string, width = terminalWidth()): string {
  if (width === undefined) return text;
  return text
    .split('\n')
    .flatMap((line) => wrapLine(line, width))
    .join('\n');
}

/** The same for help texts: also joins and wraps paragraphs that were wrapped for a wider terminal. */
export function fillParagraphs(text: string, width = terminalWidth()): string {
  if (width === undefined) return text;
  const lines: string[] = [];
  let paragraph: string[] = [];
  const end = () => {
    const isTooWide = paragraph.some((line) => displayWidth(line) > width);
    lines.push(...(isTooWide ? wrapLine(paragraph.join(' '), width) : paragraph));
    paragraph = [];
  };
  for (const line of text.split('\n')) {
    if (/^\S/.test(line)) paragraph.push(line);
    else {
      end();
      lines.push(...wrapLine(line, width));
    }
  }
  end();
  return lines.join('\n');
}

function wrapLine(line: string, width: number): string[] {
  if (widthOf(line) <= width) return [line];
  const indent = /^ */.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  let current = '';
  // Spaces between words are kept, unless they end a line.
  for (const [, gap = '', word = ''] of line.slice(indent.length).matchAll(/( *)([^ ]+)/g)) {
    if (current !== '' && widthOf(`${indent}${current}${gap}${word}`) > width) {
      lines.push(indent + current);
      current = word;
    } else current += gap + word;
  }
  return [...lines, indent + current];
}

function widthOf(text: string): number {
  return displayWidth(text.replace(STYLES, ''));
}
