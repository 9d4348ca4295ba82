// @ts-check
// `npm run bench:load`: `codemode serve` under load, on loopback, with a real MCP server behind it. Client, host, workers
// and server share the machine: the figures are those of all of them together.
import { runGroup } from './group-process.mjs';
import { describeMachine } from './machine.mjs';
import { helpOf, readOptions } from './options.mjs';
import { finish } from './report.mjs';
import { withVerdict } from './table.mjs';

const GROUPS = [
  { name: 'rates', measures: 'runs a second over HTTP: one caller, twenty, and more callers than workers' },
  { name: 'sockets', measures: '1,000 WebSocket clients at once' },
  { name: 'waiting', measures: '2,000 runs that wait for a slow tool at once, and what each holds' },
  { name: 'flat', measures: 'memory, descriptors, processes and files over 50,000 runs; --soak makes it longer' },
  { name: 'upstreams', measures: '1,000 servers connected at once' },
];
const SOAK = '  --soak N      group flat goes on for N minutes more';
const HELP = helpOf('bench:load', GROUPS, [SOAK]);
const GROUP_TIMEOUT_MS = 900_000;

const options = readOptions(process.argv.slice(2), GROUPS, { soak: { type: 'string' } });
const soakMinutes = Number(options['soak'] ?? 0);
if (options.help) {
  console.log(HELP);
} else if (options.error !== undefined || !(soakMinutes >= 0)) {
  console.error(`${options.error ?? '--soak takes a number of minutes'}\n\n${HELP}`);
  process.exitCode = 2;
} else {
  await main(options);
}

async function main({ only, quick, json }) {
  const machine = describeMachine();
  console.log(machine.text);
  if (machine.warning !== undefined) console.log(machine.warning);
  const rows = [];
  for (const { name } of GROUPS.filter((group) => only.length === 0 || only.includes(group.name))) {
    process.stderr.write(`measuring ${name} ...\n`);
    const timeoutMs = GROUP_TIMEOUT_MS + soakMinutes * 60_000;
    for (const row of await runGroup(name, { quick, soakMinutes }, { folder: 'load', timeoutMs }))
      rows.push(withVerdict({ group: name, ...row }));
  }
  finish(rows, { machine, quick, json });
}
