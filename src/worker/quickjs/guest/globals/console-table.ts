// biome-ignore-all lint/style/useTemplate: a program can patch what template literals call, see primordials.ts.
// console.table as a Markdown table, which a model reads as easily as a person.
import { textOfArguments } from './console-text.js';
import { objectKeys, smallerOf, toText } from './primordials.js';

/** Rows and columns beyond these are omitted, with a note. */
const MAX_ROWS = 1_000;
const MAX_COLUMNS = 50;

/** A value that can't be shown as a table is shown as by console.log. */
export function textOfTable(data: unknown, columns: unknown, maxCharacters: number): string {
  if (typeof data !== 'object' || data === null) return textOfArguments([data], maxCharacters);
  try {
    return render(data as Record<string, unknown>, columns, maxCharacters);
  } catch {
    return textOfArguments([data], maxCharacters);
  }
}

function render(data: Record<string, unknown>, wanted: unknown, maxCharacters: number): string {
  const rowKeys = objectKeys(data);
  const rowCount = smallerOf(rowKeys.length, MAX_ROWS);
  const columns = { __proto__: null, count: 0 } as unknown as { count: number } & Record<number, string>;
  const isKnown = { __proto__: null } as unknown as Record<string, true>;
  let hasValues = false;
  const addColumns = (names: readonly string[]): void => {
    for (let index = 0; index < names.length && columns.count < MAX_COLUMNS; index++) {
      const name = names[index] as string;
      if (isKnown[name]) continue;
      isKnown[name] = true;
      columns[columns.count++] = name;
    }
  };
  if (typeof wanted === 'object' && wanted !== null) addColumns(wanted as string[]);
  for (let index = 0; index < rowCount; index++) {
    const row = data[rowKeys[index] as string];
    if (typeof row !== 'object' || row === null) hasValues = true;
    else if (wanted === undefined) addColumns(objectKeys(row));
  }

  const cell = (value: unknown): string => (value === undefined ? '' : textOfArguments([value], maxCharacters));
  let head = '| (index) |';
  let rule = '| --- |';
  for (let column = 0; column < columns.count; column++) {
    head += ' ' + columns[column] + ' |';
    rule += ' --- |';
  }
  let text = hasValues ? head + ' Values |\n' + rule + ' --- |' : head + '\n' + rule;
  for (let index = 0; index < rowCount && text.length < maxCharacters; index++) {
    const row = data[rowKeys[index] as string];
    const isRecord = typeof row === 'object' && row !== null;
    text += '\n| ' + rowKeys[index] + ' |';
    for (let column = 0; column < columns.count; column++) {
      text += ' ' + (isRecord ? cell((row as Record<string, unknown>)[columns[column] as string]) : '') + ' |';
    }
    if (hasValues) text += ' ' + (isRecord ? '' : cell(row)) + ' |';
  }
  if (rowKeys.length > rowCount) text += '\n… ' + toText(rowKeys.length - rowCount) + ' more rows';
  return textOfArguments([text], maxCharacters);
}
