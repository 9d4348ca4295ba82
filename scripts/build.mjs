// @ts-check
// Builds dist: the program, the library, its declarations, (through build-worker.mjs) what runs in the jail and (through
// build-console.mjs) the pages of the console; and the man page.
// Does nothing when no input changed since the last build that ended.
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildConsole } from './build-console.mjs';
import { buildManPage } from './build-man.mjs';
import { buildWorker } from './build-worker.mjs';
import { bundleHost } from './bundle-host.mjs';
import { emitDeclarations } from './declarations.mjs';
import { noticesOf } from './notices.mjs';
import { isMain, listFiles, ROOT } from './repository.mjs';

const DIST = join(ROOT, 'dist');

/** Digest of the inputs of the build that is in dist; written last, so an interrupted build is done again. */
const STAMP = join(DIST, '.inputs');

const MAN_PAGE = join(ROOT, 'man', 'codemode.1');

/** The program carries its own `#!` line. */
const PROGRAM = 'dist/bin.js';

if (isMain(import.meta.url)) {
  const start = performance.now();
  const inputs = digestInputs();
  if (isBuilt(inputs)) {
    console.log('dist is up to date');
  } else {
    try {
      await buildAll(inputs);
      console.log(`built dist in ${Math.round(performance.now() - start)} ms`);
    } catch (error) {
      console.error(error.message);
      process.exitCode = 1;
    }
  }
}

/** Whether dist is what these sources give. */
export function isBuilt(inputs = digestInputs()) {
  return existsSync(MAN_PAGE) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === inputs;
}

async function buildAll(inputs) {
  // All of it, so that nothing of a file that is gone gets published.
  rmSync(DIST, { recursive: true, force: true });
  mkdirSync(DIST, { recursive: true });
  // The compiler is its own process: the bundles are made on another core meanwhile.
  const declarations = emitDeclarations('dist/types', ['index.d.ts', 'langchain.d.ts', 'ai-sdk.d.ts']);
  const bundles = makeBundles();
  await Promise.allSettled([declarations, bundles]);
  await declarations;
  const { ofHost, ofWorker } = await bundles;
  writeFileSync(join(DIST, 'third-party-notices.txt'), noticesOf([...ofHost, ...ofWorker]));
  writeFileSync(STAMP, inputs);
}

async function makeBundles() {
  const ofHost = await bundleHost('dist');
  chmodSync(join(ROOT, PROGRAM), 0o755);
  await buildManPage();
  const { inputs: ofWorker } = await buildWorker();
  const { inputs: ofConsole } = await buildConsole();
  return { ofHost, ofWorker: [...ofWorker, ...ofConsole] };
}

/** Of everything that ends up in dist or decides how: sources without tests, dependencies, settings, the builders. */
function digestInputs() {
  const files = [
    ...listFiles('src', ['']).filter((file) => !/\.test(-support)?\.ts$/.test(file)),
    ...listFiles('console', ['']).filter((file) => !/\.test(-support)?\.tsx?$/.test(file)),
    ...listFiles('scripts', ['.mjs', '.ts']).filter((file) => !file.endsWith('.test.mjs')),
    ...['package.json', 'package-lock.json', 'tsconfig.base.json', 'tsconfig.host.json'],
  ];
  const digest = createHash('sha256').update(process.version);
  for (const file of files) {
    const content = readFileSync(join(ROOT, file));
    digest.update(`\n${file} ${content.length}\n`).update(content);
  }
  return digest.digest('hex');
}
