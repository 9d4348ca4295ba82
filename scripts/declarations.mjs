// @ts-check
// The declarations that the package publishes: those that its entries reach, and no package that users would have to install.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { listFiles, ROOT, runNode, TOOLS } from './repository.mjs';

/** A module that a declaration file takes something from. */
const REFERENCE = /(?:\bfrom|\bimport\()\s*['"]([^'"]+)['"]/g;

/** @param {string} folder relative to the root @param {readonly string[]} entries such as `index.d.ts` */
export async function emitDeclarations(folder, entries) {
  const { ok, output } = await runNode(
    [
      ...[TOOLS.tsc, '--project', 'tsconfig.host.json', '--noEmit', 'false', '--declaration', '--emitDeclarationOnly'],
      ...['--stripInternal', '--outDir', folder],
    ],
    { quiet: true },
  );
  if (!ok) throw new Error(`the declarations could not be emitted:\n${output}`);
  const { reached, packages } = followReferences(entries.map((entry) => join(ROOT, folder, entry)));
  for (const [name, file] of packages)
    throw new Error(`${relative(ROOT, file)} names the package ${name}, which is not installed with ours`);
  for (const file of listFiles(folder, ['.d.ts'])) if (!reached.has(join(ROOT, file))) rmSync(join(ROOT, file));
}

/**
 * Every file that the entries reach, and every package that one of them names, with the file that does.
 *
 * @param {readonly string[]} entries
 */
export function followReferences(entries) {
  /** @type {Set<string>} */
  const reached = new Set();
  /** @type {Map<string, string>} */
  const packages = new Map();
  /** @param {string} file */
  const follow = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const [, name = ''] of withoutComments(readFileSync(file, 'utf8')).matchAll(REFERENCE)) {
      if (!name.startsWith('.')) {
        if (!name.startsWith('node:')) packages.set(name, file);
        continue;
      }
      const target = join(dirname(file), name.replace(/\.js$/, '.d.ts'));
      if (!existsSync(target)) throw new Error(`${file} takes something from ${name}, which is not there`);
      follow(target);
    }
  };
  for (const entry of entries) follow(entry);
  return { reached, packages };
}

/** @param {string} text */
function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}
