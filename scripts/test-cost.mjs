// @ts-check
// node scripts/test-cost.mjs FILE...: what each test file costs when it runs alone: CPU seconds of all its processes, jailed ones
// too, and seconds by the clock. A control group counts them, so it needs root on Linux.
import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, runNode, TOOLS } from './repository.mjs';

/** Where control groups are made, and how one says what it has used, in seconds: the older interface, and the newer one. */
const INTERFACES = [
  { folder: '/sys/fs/cgroup/cpuacct', file: 'cpuacct.usage', secondsOf: (text) => Number(text) / 1e9 },
  {
    folder: '/sys/fs/cgroup',
    file: 'cpu.stat',
    secondsOf: (text) => Number(/^usage_usec (\d+)/m.exec(text)?.[1]) / 1e6,
  },
];

/** Starts the program whose words follow, in the control group that is named first. */
const START_IN_GROUP = `
  const { writeFileSync } = require('node:fs');
  const [group, ...words] = process.argv.slice(1);
  writeFileSync(group + '/cgroup.procs', String(process.pid));
  const { status } = require('node:child_process').spawnSync(process.execPath, words, { stdio: 'inherit' });
  process.exit(status ?? 1);`;

if (isMain(import.meta.url)) {
  const files = process.argv.slice(2);
  if (files.length === 0) throw new Error('usage: node scripts/test-cost.mjs FILE...');
  const rows = [];
  for (const file of files) rows.push({ file, ...(await costOf(file)) });
  rows.sort((left, right) => right.cpu - left.cpu);
  for (const { file, cpu, clock, ok, output } of rows) {
    console.log(
      `${cpu.toFixed(1).padStart(7)} s CPU ${clock.toFixed(1).padStart(7)} s  ${file}${ok ? '' : '  FAILED'}`,
    );
    if (!ok) console.log(output);
  }
  process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;
}

/** @param {string} file as Vitest takes it @returns {Promise<{ cpu: number, clock: number, ok: boolean, output: string }>} */
async function costOf(file) {
  const { folder, file: counter, secondsOf } = countingInterface();
  const group = join(folder, `codemode-test-cost-${process.pid}-${Date.now()}`);
  mkdirSync(group);
  try {
    const start = performance.now();
    const words = ['-e', START_IN_GROUP, group, TOOLS.vitest, 'run', file];
    const { ok, output } = await runNode(words, { quiet: true });
    const cpu = secondsOf(readFileSync(join(group, counter), 'utf8'));
    return { cpu, clock: (performance.now() - start) / 1000, ok, output };
  } finally {
    removeGroup(group);
  }
}

/** @param {string} group */
function removeGroup(group) {
  try {
    rmdirSync(group);
  } catch {
    console.error(`a process outlives its test: see ${group}/cgroup.procs`);
  }
}

function countingInterface() {
  const found = INTERFACES.find(({ folder, file }) => existsSync(join(folder, file)));
  if (found === undefined)
    throw new Error('no control groups are mounted below /sys/fs/cgroup; nothing can be counted');
  return found;
}
