// @ts-check
// `npm run bench`: measures the built product and prints one table. Figures of different machines, or of different
// moments of one machine, do not compare; ratios within one run do. So every peer is measured in the same run as us.
import { writeFileSync } from 'node:fs';
import { runGroup } from './group-process.mjs';
import { GROUPS } from './groups.mjs';
import { describeMachine } from './machine.mjs';
import { HELP, readOptions } from './options.mjs';
import { installPeers } from './peers/install.mjs';
import { bundleProduct } from './product.mjs';
import { renderTable, withVerdict } from './table.mjs';

const options = readOptions(process.argv.slice(2));
if (options.help) {
  console.log(HELP);
} else if (options.error !== undefined) {
  console.error(`${options.error}\n\n${HELP}`);
  process.exitCode = 2;
} else {
  await main(options);
}

async function main({ only, quick, json, peers }) {
  const machine = describeMachine();
  console.log(machine.text);
  if (machine.warning !== undefined) console.log(machine.warning);
  const chosen = GROUPS.filter(({ name }) => only.length === 0 || only.includes(name));
  const missing = chosen.some(({ needsPeers }) => needsPeers) ? await installPeers(peers) : {};
  await bundleProduct();

  const rows = [];
  for (const { name } of chosen) {
    process.stderr.write(`measuring ${name} ...\n`);
    for (const row of await runGroup(name, { quick, peers, missing })) rows.push(withVerdict({ group: name, ...row }));
  }
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
