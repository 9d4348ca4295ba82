import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PROGRAM } from './program.js';

const MIGRATION = `{ name: 'next', sql: 'ALTER TABLE codemode.runs ADD COLUMN next integer; CREATE TABLE codemode.next (n integer)' }`;
/** The migrations of the shared database, as the bundler writes them. */
const LIST = /MIGRATIONS = \[\n {2}\{ name: "identity", sql: IDENTITY[\s\S]*?\n\];/;

/**
 * The program as a later release could be: one more migration, and workers of another build, which read no image of this one.
 * `program` is its file; the folder is removed with the value.
 */
export class NextBuild implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'codemode-next-'));
  readonly program = join(this.#folder, 'dist/bin.js');

  constructor() {
    const root = dirname(dirname(PROGRAM));
    const dist = join(this.#folder, 'dist');
    const isPublished = (path: string) => !/\.map$|\/code-[^/]+\.bin$|jail-tested/.test(path);
    cpSync(dirname(PROGRAM), dist, { recursive: true, filter: isPublished });
    cpSync(join(root, 'package.json'), join(this.#folder, 'package.json'));
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'));
    this.#addMigration(dist);
    this.#renameWorkers(join(dist, 'worker'));
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #addMigration(dist: string): void {
    for (const name of readdirSync(dist).filter((each) => each.endsWith('.cjs'))) {
      const path = join(dist, name);
      const text = readFileSync(path, 'utf8');
      const changed = text.replace(LIST, (list) => list.replace(/\n\];$/, `,\n  ${MIGRATION}\n];`));
      if (changed !== text) return writeFileSync(path, changed);
    }
    throw new Error('no part of the program has the list of migrations');
  }

  /** What is named in each file is checked against the hash in the manifest. */
  #renameWorkers(folder: string): void {
    const path = join(folder, 'manifest.json');
    const { build, files } = JSON.parse(readFileSync(path, 'utf8')) as { build: string; files: Record<string, string> };
    const other = createHash('sha256').update(build).digest('hex').slice(0, build.length);
    for (const name of Object.keys(files)) {
      const text = readFileSync(join(folder, name), 'latin1').replaceAll(build, other);
      writeFileSync(join(folder, name), text, 'latin1');
      files[name] = createHash('sha256').update(text, 'latin1').digest('hex');
    }
    writeFileSync(path, JSON.stringify({ build: other, files }));
  }
}
