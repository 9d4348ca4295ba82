// Nothing here has a static import that stays in the build: an old Node must be able to parse `bin.js`.
import type { Script } from 'node:vm';
import { omitUndefined } from '../lib/omit-undefined.js';
import { CodeCache } from './code-cache.js';

interface Part {
  readonly script: Script;
  readonly module: { exports: unknown };
}

/**
 * The exports of one part of the built program. Every part it needs is loaded with it, from the code that V8 compiled at an earlier
 * start. See docs/decisions/0049-compiled-code-beside-the-program.md.
 *
 * @param starter address of a file in the same folder as the parts
 */
export async function loadPart<Exports>(starter: string, entry: string): Promise<Exports> {
  const { createRequire } = await import('node:module');
  const require = createRequire(starter);
  const folder = require('node:url').fileURLToPath(new URL('.', starter)).slice(0, -1);
  const fs = require('node:fs') as typeof import('node:fs');
  const { Script } = require('node:vm') as typeof import('node:vm');
  const kept = new CodeCache(fs, folder);
  const parts = new Map<string, Part>();
  let isEveryPartKept = true;

  const load = (name: string): unknown => {
    const loaded = parts.get(name);
    if (loaded !== undefined) return loaded.module.exports;
    const filename = `${folder}/${name}`;
    const source = `(function (exports, require, module, __filename, __dirname) {${fs.readFileSync(filename, 'utf8')}\n})`;
    const cachedData = kept.read(name);
    if (cachedData === undefined) isEveryPartKept = false;
    const script = new Script(source, { filename, ...omitUndefined({ cachedData }) });
    // The code was compiled with other V8 options.
    if (script.cachedDataRejected === true) kept.refuse();
    const module = { exports: {} };
    // Registered before it runs, because parts may require each other.
    parts.set(name, { script, module });
    const requireFromPart = (id: string): unknown => (id.startsWith('./') ? load(id.slice(2)) : require(id));
    script.runInThisContext()(module.exports, requireFromPart, module, filename, folder);
    return module.exports;
  };

  process.once('exit', () => {
    if (isEveryPartKept) return;
    const scripts = [...parts].map(([name, { script }]) => [name, script] as const);
    kept.add(scripts);
  });
  return load(entry) as Exports;
}
