// @ts-check
// Writes man/codemode.1 from the table of commands that the program itself is made of.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ROOT } from './repository.mjs';

/** Beside the sources of the build, so that packages are found from it. */
const MAKER = join(ROOT, 'dist', 'man-maker.mjs');

/** A reproducible build sets the date: https://reproducible-builds.org. */
function buildDate() {
  const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? '');
  return (epoch > 0 ? new Date(epoch * 1000) : new Date()).toISOString().slice(0, 10);
}

export async function buildManPage() {
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['scripts/man-maker.ts'],
    outfile: MAKER,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    logLevel: 'warning',
  });
  try {
    const { makeManPage } = await import(`${pathToFileURL(MAKER).href}?${Date.now()}`);
    mkdirSync(join(ROOT, 'man'), { recursive: true });
    writeFileSync(join(ROOT, 'man', 'codemode.1'), await makeManPage(buildDate()));
  } finally {
    rmSync(MAKER, { force: true });
  }
}
