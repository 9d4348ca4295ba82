// @ts-check
import { writeFileSync } from 'node:fs';
import { describeMachine } from './machine.mjs';
import { renderTable } from './table.mjs';

/**
 * Prints the table, writes the file, and sets the exit status.
 *
 * @param {readonly import('./table.mjs').Row[]} rows
 * @param {{ machine: ReturnType<typeof describeMachine>, quick: boolean, json: string | undefined }} context
 */
export function finish(rows, { machine, quick, json }) {
  console.log(`\n${renderTable(rows)}`);
  const after = describeMachine();
  console.log(`\nload average ${machine.facts.loadAverage} at the start, ${after.facts.loadAverage} at the end`);
  if (json !== undefined) {
    const report = { machine: machine.facts, loadAverageAtEnd: after.facts.loadAverage, quick, rows };
    writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
  }
  // A goal that is missed is a figure to look at, not a failed build: only a group that broke is.
  process.exitCode = rows.some(({ failed }) => failed) ? 1 : 0;
}
