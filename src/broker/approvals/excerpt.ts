const CONTEXT_LINES = 3;
const MAX_LINES = 40;
const MAX_LINE_CHARACTERS = 200;

/**
 * The part of a program that a person should see before saying yes: the lines that name the tool, with their neighbours,
 * else its beginning. A help for the eye and nothing more: an alias hides the name, so what is approved are the arguments.
 */
export function excerptOf(source: string, exportName: string): string {
  const lines = source.split('\n');
  const wanted = new Set<number>();
  for (const [index, line] of lines.entries()) {
    if (!line.includes(exportName)) continue;
    for (let near = index - CONTEXT_LINES; near <= index + CONTEXT_LINES; near++) wanted.add(near);
  }
  const shown = lines
    .map((line, index) => ({ line, index }))
    .filter(({ index }) => wanted.size === 0 || wanted.has(index));
  const width = String(lines.length).length;
  const numbered = shown
    .slice(0, MAX_LINES)
    .map(({ line, index }) => `${String(index + 1).padStart(width)} | ${line.slice(0, MAX_LINE_CHARACTERS)}`);
  return [...numbered, ...(shown.length > MAX_LINES ? [`${' '.repeat(width)} | ...`] : [])].join('\n');
}
