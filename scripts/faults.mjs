// npm run faults -- [--minutes N] [--seed N] [--only KIND]: hosts under random faults, for as long as you like. The seed is printed;
// with it the same faults are made again. KIND is the end of a line that a run prints, such as "out of connections".
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { checkNeed } from './system-needs.mjs';

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const minutes = Number(values.minutes ?? 30);
const seed = Number(values.seed ?? randomInt(1_000_000));
if (!(minutes > 0) || !Number.isSafeInteger(seed) || seed < 0) {
  process.stderr.write('usage: npm run faults -- [--minutes N] [--seed N] [--only KIND]\n');
  process.exit(2);
}
// A test that is skipped would look like one that passed.
const unmet = /** @type {const} */ (['postgresql', 'iproute', 'faketime', 'bubblewrap'])
  .map(checkNeed)
  .find(({ isMet }) => !isMet);
if (unmet !== undefined && 'reason' in unmet) {
  process.stderr.write(`${unmet.reason}\n`);
  process.exit(1);
}
process.stdout.write(`seed ${seed}, ${minutes} minutes\n`);
const { status } = spawnSync('npx', ['vitest', 'run', '--project', 'product', 'test/cluster/storm.test.ts'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    CODEMODE_FAULT_MINUTES: `${minutes}`,
    CODEMODE_FAULT_SEED: `${seed}`,
    CODEMODE_FAULT_ONLY: values.only ?? '',
  },
});
process.exit(status ?? 1);
