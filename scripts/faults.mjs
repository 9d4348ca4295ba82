// npm run faults -- [--minutes N] [--seed N]: hosts under random faults, for as long as you like. The seed is printed; with it the
// same faults are made again.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const minutes = Number(values.minutes ?? 30);
const seed = Number(values.seed ?? randomInt(1_000_000));
if (!(minutes > 0) || !Number.isSafeInteger(seed) || seed < 0) {
  process.stderr.write('usage: npm run faults -- [--minutes N] [--seed N]\n');
  process.exit(2);
}
process.stdout.write(`seed ${seed}, ${minutes} minutes\n`);
const { status } = spawnSync('npx', ['vitest', 'run', '--project', 'product', 'test/cluster/storm.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, CODEMODE_FAULT_MINUTES: `${minutes}`, CODEMODE_FAULT_SEED: `${seed}` },
});
process.exit(status ?? 1);
