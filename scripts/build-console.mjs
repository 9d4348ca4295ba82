// @ts-check
// Builds the console (console/) into dist/console, and refuses a console that grew beyond its budget.
import { readFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { isMain, listFiles, ROOT } from './repository.mjs';

/** Of all its files together, compressed: what a browser fetches at most. */
export const MAX_CONSOLE_GZIP_BYTES = 250 * 1024;

if (isMain(import.meta.url)) {
  const { gzipBytes, files } = await buildConsole();
  console.log(`dist/console: ${files} files, ${(gzipBytes / 1024).toFixed(1)} KB gzipped`);
}

/** @returns {Promise<{ files: number, gzipBytes: number, inputs: string[] }>} `inputs`: every module in it, for the notices */
export async function buildConsole() {
  const output = await build({ configFile: join(ROOT, 'console/vite.config.ts') });
  const bundles = Array.isArray(output) ? output : [output];
  const inputs = bundles.flatMap((bundle) =>
    'output' in bundle ? bundle.output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : [])) : [],
  );
  const files = listFiles('dist/console', ['']);
  const gzipBytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(join(ROOT, file))).length, 0);
  if (gzipBytes > MAX_CONSOLE_GZIP_BYTES) {
    throw new Error(`dist/console has ${gzipBytes} bytes gzipped, and may have ${MAX_CONSOLE_GZIP_BYTES}`);
  }
  return {
    files: files.length,
    gzipBytes,
    inputs: [...new Set(inputs.filter(isAbsolute).map((file) => relative(ROOT, file)))],
  };
}
