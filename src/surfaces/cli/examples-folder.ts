import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HostError } from '../../domain/errors.js';

/** Next to the built program in the package, or further up from the sources. */
export function examplesFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (let level = 0; level < 5; level += 1) {
    const examples = join(folder, 'examples');
    if (existsSync(join(examples, 'codemode.config.yaml'))) return examples;
    folder = dirname(folder);
  }
  throw new HostError('internal', 'the example servers are missing from this installation; install codemode again');
}
