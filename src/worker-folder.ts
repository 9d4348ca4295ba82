import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `dist/worker`, from the built program as well as from its sources. */
export function workerFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, 'worker', 'manifest.json');
  return existsSync(beside) ? dirname(beside) : join(here, '..', 'dist', 'worker');
}
