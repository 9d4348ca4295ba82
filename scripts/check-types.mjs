// @ts-check
// The compile units, each with the types of the place where its code runs, and nothing more. The host's is checked by a
// build, where there is one of these sources.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isBuilt } from './build.mjs';
import { CACHE, isMain, runNode, TOOLS } from './repository.mjs';

/** @type {readonly { name: string, project: string, isChecked?: () => boolean, script?: string }[]} the longest first */
export const UNITS = [
  { name: 'promises and switches', project: 'tsconfig.json', script: 'scripts/check-meaning.mjs' },
  { name: 'tests', project: 'tsconfig.json' },
  // The build emits its declarations, and fails where its types are wrong.
  { name: 'host', project: 'tsconfig.host.json', isChecked: isBuilt },
  { name: 'worker', project: 'src/worker/tsconfig.json' },
  { name: 'guest', project: 'src/worker/quickjs/guest/tsconfig.json' },
  { name: 'scripts', project: 'scripts/tsconfig.json' },
  { name: 'bench', project: 'bench/tsconfig.json' },
  { name: 'console', project: 'console/tsconfig.json' },
];

/** The compiler's number for "this project has no sources": a unit that is not written yet. */
const NO_INPUTS = 'TS18003';

/** Two at a time: the floor is a machine with two cores. */
const PARALLEL = 2;

if (isMain(import.meta.url)) {
  mkdirSync(CACHE, { recursive: true });
  const waiting = [...UNITS];
  const failed = [];
  const work = async () => {
    for (let unit = waiting.shift(); unit !== undefined; unit = waiting.shift()) {
      if (!(await checkUnit(unit))) failed.push(unit.name);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  process.exitCode = failed.length === 0 ? 0 : 1;
}

async function checkUnit({ name, project, isChecked = () => false, script = '' }) {
  if (isChecked()) {
    console.log(`${name}: ok, checked by the build`);
    return true;
  }
  const state = join(CACHE, `types-${name}.tsbuildinfo`);
  const compile = [TOOLS.tsc, '--project', project, '--noEmit', '--incremental', '--tsBuildInfoFile', state];
  const { ok, output } = await runNode(script !== '' ? [script] : [...compile, '--pretty', 'false'], { quiet: true });
  const isEmpty = output.includes(NO_INPUTS);
  console.log(`${name}: ${ok ? 'ok' : isEmpty ? 'no sources yet' : 'errors'}`);
  if (!ok && !isEmpty) console.log(output);
  return ok || isEmpty;
}
