// npm run fuzz -- [NAME] [--seconds N] [--seed N]: one fuzzer or all of them, for as long as you like. A failing case is
// printed with its seed; with that seed it is made again.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string' }, seed: { type: 'string' } },
});
// With a seed and no time, that one case.
const seconds = values.seconds ?? (values.seed === undefined ? '60' : '0');
const named = positionals.length === 0 ? [] : ['-t', `fuzzing ${positionals[0]}$`];
const { status } = spawnSync('npx', ['vitest', 'run', '--project', 'product', 'test/fuzz/fuzz.test.ts', ...named], {
  stdio: 'inherit',
  env: {
    ...process.env,
    CODEMODE_FUZZ_SECONDS: seconds,
    ...(values.seed === undefined ? {} : { CODEMODE_FUZZ_SEED: values.seed }),
  },
});
process.exit(status ?? 1);
