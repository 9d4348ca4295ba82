// @ts-check
// `npm run bench`: measures the built product and prints one table. Figures of different machines, or of different
// moments of one machine, do not compare; ratios within one run do. So every peer is measured in the same run as us.
import { runGroup } from './group-process.mjs';
import { GROUPS } from './groups.mjs';
import { describeMachine } from './machine.mjs';
import { helpOf, readOptions } from './options.mjs';
import { installPeers } from './peers/install.mjs';
import { bundleProduct } from './product.mjs';
import { finish } from './report.mjs';
import { withVerdict } from './table.mjs';

const PEERS = '  --peers       also measures the peers that are large to download (workerd, 150 MB)';
const HELP = helpOf('bench', GROUPS, [PEERS]);
const options = readOptions(process.argv.slice(2), GROUPS, { peers: { type: 'boolean' } });
if (options.help) {
  console.log(HELP);
} else if (options.error !== undefined) {
  console.error(`${options.error}\n\n${HELP}`);
  process.exitCode = 2;
} else {
  await main(options);
}

async function main({ only, quick, json, peers = false }) {
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
  finish(rows, { machine, quick, json });
}
