import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HostError } from '../../domain/errors.js';
import { makeFolderSync } from '../../lib/files/make-folder.js';
import { LIBRARY_DECLARATIONS } from '../../profiles/codemode/prompt/library-declarations.js';
import { scriptsDeclarations } from '../../profiles/codemode/prompt/scripts-section.js';

export interface ProjectTexts {
  /** Global types that all modules use. */
  readonly shared: string;
  readonly modules: readonly { readonly path: string; readonly text: string }[];
  /** The functions of `@codemode/scripts`. */
  readonly scripts: string;
}

const CONFIG = `${JSON.stringify(
  {
    compilerOptions: {
      ...{ strict: true, noEmit: true, target: 'esnext', lib: ['esnext'], types: [] },
      ...{ module: 'esnext', moduleResolution: 'bundler', moduleDetection: 'force' },
    },
    include: ['*.ts', 'codemode-types/*.d.ts'],
  },
  null,
  2,
)}\n`;

/** Globals of the sandbox that the language does not define. */
const GLOBALS = `declare const console: Record<"log" | "debug" | "info" | "warn" | "error" | "table", (...values: unknown[]) => void>;
declare function setTimeout(callback: (...values: any[]) => void, delayMs?: number, ...values: any[]): number;
declare function clearTimeout(timer?: number): void;
declare function structuredClone<Value>(value: Value): Value;
declare function queueMicrotask(callback: () => void): void;
declare function atob(text: string): string;
declare function btoa(text: string): string;
declare const URL: any;
declare const URLSearchParams: any;
declare const TextEncoder: any;
declare const TextDecoder: any;
`;

/** What a stored script was run with. */
const INPUT = 'declare module "@codemode/input" { export const input: any }\n';

const MARK = '// Written by codemode types --out: it is replaced the next time.\n';
const TYPES_FOLDER = 'codemode-types';
const FILE_NAME = /^[\w.$@-]{1,200}$/;

/**
 * Writes a project that editors understand, and returns the number of files. Declarations are replaced. An existing tsconfig.json
 * and programs belong to the user. Throws `bad_input` if the folder of declarations is not ours.
 */
export function writeProject(folder: string, { shared, modules, scripts }: ProjectTexts): number {
  const types = join(folder, TYPES_FOLDER);
  makeFolderSync(types, 0o755);
  for (const name of readdirSync(types)) {
    const path = join(types, name);
    if (!name.endsWith('.d.ts') || !readFileSync(path, 'utf8').startsWith(MARK))
      throw new HostError('bad_input', `${path} was not written by codemode; choose another folder with --out`);
    rmSync(path);
  }
  const texts = new Map([
    ['codemode.d.ts', `${GLOBALS}${LIBRARY_DECLARATIONS}${shared}${INPUT}${scriptsDeclarations(true)}${scripts}`],
  ]);
  for (const [index, { path, text }] of modules.entries())
    texts.set(FILE_NAME.test(path) ? `${path}.server.d.ts` : `server-${index + 1}.server.d.ts`, text);
  for (const [name, text] of texts) writeFileSync(join(types, name), `${MARK}${text}`);
  const own = [
    ['tsconfig.json', CONFIG],
    ['example.ts', EXAMPLE],
  ] as const;
  const added = own.filter(([name]) => !existsSync(join(folder, name)));
  for (const [name, text] of added) writeFileSync(join(folder, name), text);
  return texts.size + added.length;
}

const EXAMPLE = `import { listServers } from '@codemode/discovery';

globalThis.__codemode_result__ = await listServers();
`;
