import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `dist/console`, from the built program as well as from its sources. */
export function consoleFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, 'console');
  return existsSync(join(beside, 'index.html')) ? beside : join(here, '..', 'dist', 'console');
}
