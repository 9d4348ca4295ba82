import { cutToWidth, displayWidth } from './display-width.js';
import { plainLine, type Style, styled, terminalWidth } from './terminal.js';

/** One cell. Its text may be foreign: it is shown on one line and cannot control the terminal. */
export type Cell = string | { readonly text: string; readonly style?: Style };

export interface Column {
  readonly title: string;
  /** Numbers are right-aligned. */
  readonly isNumber?: boolean;
  /** If the table is too wide, the column with the highest number is cut first. Columns without a number are cut last. */
  readonly cutFirst?: number;
}

export interface Row {
  readonly cells: readonly Cell[];
  /** Sentences below the row, printed unchanged: already made plain, and wrapped by the terminal. */
  readonly below?: readonly string[];
}

const GAP = '  ';
/** A narrower column is not readable. */
const MINIMUM = 8;
/** If nothing is cut, one long name must not push all other columns out of sight. */
const MAX_PADDING = 44;

/**
 * Aligned rows, at most as wide as the terminal. Without a terminal nothing is cut and no titles are printed: each row is then
 * for a program, `grep` or `cut`.
 */
export function renderTable(columns: readonly Column[], rows: readonly Row[], width = terminalWidth()): string {
  const titles: Row = { cells: columns.map(({ title }) => ({ text: title, style: 'dim' })) };
  const shown = width === undefined ? rows : [titles, ...rows];
  const natural = naturalWidths(columns, shown, width ?? MAX_PADDING);
  const widths = width === undefined ? natural : fitted(columns, natural, width);
  const line = (cells: readonly Cell[]) =>
    columns
      .map(({ isNumber }, index) => {
        const cell = cells[index] ?? '';
        const room = widths[index] ?? 0;
        const text = width === undefined ? textOf(cell) : cutToWidth(textOf(cell), room);
        const visible = typeof cell === 'string' || cell.style === undefined ? text : styled(cell.style, text);
        // Nothing is to the right of the last column, so it needs no padding.
        if (index === columns.length - 1 && isNumber !== true) return visible;
        const padding = ' '.repeat(Math.max(0, room - displayWidth(text)));
        return isNumber === true ? padding + visible : visible + padding;
      })
      .join(GAP)
      .trimEnd();
  return shown.flatMap(({ cells, below = [] }) => [line(cells), ...below]).join('\n');
}

/** The width that each column needs, up to `most`: a text of a megabyte is not measured. */
function naturalWidths(columns: readonly Column[], rows: readonly Row[], most: number): number[] {
  const widthOf = (cell: Cell = '') => displayWidth(cutToWidth(textOf(cell), most));
  return columns.map((_, index) => rows.reduce((width, { cells }) => Math.max(width, widthOf(cells[index])), 0));
}

/** The widths that fit: the excess is taken from one column after the other. */
function fitted(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  const room = width - GAP.length * (columns.length - 1);
  const order = columns.map((_, index) => index).sort((left, right) => rank(columns, right) - rank(columns, left));
  // First down to what is still readable, then as far as necessary.
  for (const minimum of [MINIMUM, 1]) {
    for (const index of order) {
      const excess = widths.reduce((sum, each) => sum + each, 0) - room;
      if (excess <= 0) return widths;
      const current = widths[index] ?? 0;
      widths[index] = Math.max(Math.min(current, minimum), current - excess);
    }
  }
  return widths;
}

function rank(columns: readonly Column[], index: number): number {
  return columns[index]?.cutFirst ?? 0;
}

function textOf(cell: Cell): string {
  return plainLine(typeof cell === 'string' ? cell : cell.text);
}
