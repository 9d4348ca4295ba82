// @ts-check
/**
 * @typedef {object} Row
 * @property {string} name
 * @property {string} [group]
 * @property {string} [unit] of p50, p95 and value
 * @property {number} [p50]
 * @property {number} [p95]
 * @property {number} [value] where there is one figure, or beside p50 the runs per second
 * @property {string} [valueUnit]
 * @property {{ p50?: number, p95?: number, atMost?: number, atLeast?: number, ratio?: number }} [goal]
 * @property {number} [ratio] how many times longer a peer takes than we do for the same
 * @property {string} [note]
 * @property {boolean} [failed]
 * @property {boolean | null} [met]
 */

/** Adds `met`: null where there is no goal. @param {Row} row @returns {Row} */
export function withVerdict(row) {
  const { goal, p50, p95, value, ratio } = row;
  if (goal === undefined) return { ...row, met: null };
  const within = (figure, most) => most === undefined || (figure !== undefined && figure <= most);
  const reaches = (figure, least) => least === undefined || (figure !== undefined && figure >= least);
  const met =
    within(p50, goal.p50) && within(p95, goal.p95) && within(value, goal.atMost) && reaches(value, goal.atLeast);
  return { ...row, met: met && reaches(ratio, goal.ratio) };
}

const HEADINGS = ['', 'p50', 'p95', 'value', 'goal', 'met', 'peer / ours', 'note'];
/** Names and notes read from the left, figures from the right. */
const LEFT_ALIGNED = new Set([0, 7]);

/** @param {readonly Row[]} rows */
export function renderTable(rows) {
  const lines = rows.map((row) => [
    row.name,
    figure(row.p50, row.unit),
    figure(row.p95, row.unit),
    figure(row.value, row.valueUnit ?? row.unit),
    goalText(row),
    row.met === null || row.met === undefined ? '' : row.met ? 'yes' : 'NO',
    row.ratio === undefined ? '' : `${significant(row.ratio)} x`,
    (row.note ?? '').split('\n')[0],
  ]);
  const cells = [HEADINGS, ...lines];
  const widths = HEADINGS.map((_, column) => Math.max(...cells.map((line) => (line[column] ?? '').length)));
  const render = (line) =>
    line
      .map((cell, column) => (LEFT_ALIGNED.has(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join('  ')
      .trimEnd();
  return [render(HEADINGS), widths.map((width) => '-'.repeat(width)).join('  '), ...lines.map(render)].join('\n');
}

/** @param {Row} row */
function goalText({ goal, unit, valueUnit }) {
  if (goal === undefined) return '';
  const parts = [];
  const valueText = (figureText) => `${figureText} ${valueUnit ?? unit ?? ''}`.trimEnd();
  if (goal.p50 !== undefined) parts.push(`${goal.p50}${goal.p95 === undefined ? '' : ` / ${goal.p95}`} ${unit}`);
  if (goal.atMost !== undefined) parts.push(valueText(`<= ${goal.atMost}`));
  if (goal.atLeast !== undefined) parts.push(valueText(`>= ${goal.atLeast}`));
  if (goal.ratio !== undefined) parts.push(`>= ${goal.ratio} x`);
  return parts.join(', ');
}

function figure(value, unit = '') {
  return value === undefined ? '' : `${significant(value)} ${unit}`.trimEnd();
}

/** Three significant digits: more would be noise. */
function significant(value) {
  if (value === 0 || Math.abs(value) >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
}
