import { types } from 'node:util';
import { Script, SourceTextModule, SyntheticModule } from 'node:vm';
import { BINDINGS_MODULE, type EntryName, ERRORS_MODULE, TEXT_MODULE } from '../quickjs/image.js';
import type { Library } from '../quickjs/library.js';
import { resolveModule } from '../quickjs/modules.js';
import { PROGRAM_FILE } from '../quickjs/positions.js';
import type { ProgramForm } from '../quickjs/run-state.js';
import { loadSecondParser } from '../transpiler/load-second-parser.js';

/** The functions of this process that the boot code of a program calls. Only primitive values cross, in both directions. */
export interface WorldHost {
  call(number: number, target: string, argumentsJson: string): void;
  callSync(): never;
  log(level: string, message: string): void;
  wake(atMs: number): void;
  mapStack(stack: string): string;
  now(): number;
  fatal(error: unknown): void;
  /** The program cannot continue in this engine. Does not return. */
  unfit(reason: string): never;
}

type Entry = Readonly<Record<EntryName, (...input: unknown[]) => unknown>> & {
  readonly bindings: Readonly<Record<string, unknown>>;
  readonly errors: Readonly<Record<string, unknown>>;
  readonly text: Readonly<Record<string, unknown>>;
  readonly missing: readonly string[];
  seedRandom(high: number, low: number): void;
  parseJson(text: string): unknown;
  hideText(thrown: unknown): void;
  revealTexts(): void;
};

/** A module could not be linked: the error that QuickJS would report. */
export class LinkFailure extends Error {
  override readonly name: string;

  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** The main realm, turned into the world of one program: see `guest/boot.ts`. */
export class World {
  readonly entry: Entry;

  constructor(files: { readonly boot: string; readonly intrinsics: string }, host: WorldHost) {
    const run = (code: string, filename: string) => new Script(code, { filename }).runInThisContext() as unknown;
    const global = run('globalThis', 'codemode:boot') as Record<string, unknown>;
    global['__intrinsics'] = files.intrinsics;
    // Errors of this realm never reach a program: they are converted into the program's own.
    const wrap = run(WRAP, 'codemode:boot') as (work: (...input: never[]) => unknown) => unknown;
    for (const name of HOST_FUNCTIONS) global[`__host_${name}`] = wrap((host[name] as () => unknown).bind(host));
    global['__host_isError'] = types.isNativeError;
    run(files.boot, 'codemode:boot');
    this.entry = global['__entry'] as Entry;
    delete global['__entry'];
  }

  /** Evaluates a module with its imports. The promise is the program's own. */
  async link(code: string, library: Library, form: ProgramForm): Promise<() => Promise<unknown>> {
    const known = new Map<string, SourceTextModule | SyntheticModule>();
    const main = new SourceTextModule(code, { identifier: PROGRAM_FILE });
    const find = (specifier: string, importer: string) => {
      if (specifier === WATCH_MODULE) return this.#watch();
      const resolved = resolveModule(library, { importer, specifier, form });
      const found = known.get(resolved) ?? this.#module(resolved, library);
      known.set(resolved, found);
      return found;
    };
    try {
      await main.link((specifier, importer) => find(specifier, importer.identifier));
    } catch (error) {
      throw linkFailure(error);
    }
    return () => main.evaluate();
  }

  /** The module that the `catch` clauses of a program call: see `watched`. */
  #watch(): SyntheticModule {
    const { hideText } = this.entry;
    const evaluate = function (this: SyntheticModule) {
      this.setExport('hideText', hideText);
    };
    return new SyntheticModule(['hideText'], evaluate, { identifier: WATCH_MODULE });
  }

  #module(specifier: string, library: Library): SourceTextModule | SyntheticModule {
    const group = BUILT_IN[specifier];
    if (group !== undefined) {
      const values = this.entry[group];
      const names = Object.keys(values);
      return new SyntheticModule(
        names,
        function (this: SyntheticModule) {
          for (const name of names) this.setExport(name, values[name]);
        },
        { identifier: specifier },
      );
    }
    const source = library.source(specifier);
    if (source === undefined) throw new LinkFailure('Error', `could not load module '${specifier}'`);
    return new SourceTextModule(source, { identifier: specifier });
  }
}

const WATCH_MODULE = 'codemode:watch';
const CATCHES = /\bcatch\b/;

/**
 * The code of a program as V8 runs it: its `catch` clauses hide the messages of the engine's errors. Undefined if that is not
 * possible. The import is after the last line, so that every line keeps its number.
 */
export function watched(code: string): string | undefined {
  if (code.includes(WATCH_MODULE)) return undefined;
  if (!CATCHES.test(code)) return code;
  let name = '$hideText';
  while (code.includes(name)) name += '$';
  try {
    const changed = loadSecondParser().withCatchesWatched(code, name);
    return changed && `${changed}\nimport { hideText as ${name} } from '${WATCH_MODULE}';`;
  } catch {
    // The newest syntax, which the second parser does not know.
    return undefined;
  }
}

const HOST_FUNCTIONS = ['call', 'callSync', 'log', 'wake', 'mapStack', 'now', 'fatal', 'unfit'] as const;

const BUILT_IN: Readonly<Record<string, 'bindings' | 'errors' | 'text' | undefined>> = {
  [BINDINGS_MODULE]: 'bindings',
  [ERRORS_MODULE]: 'errors',
  [TEXT_MODULE]: 'text',
};

/** Evaluated in the program's realm: its functions and errors are the program's own. */
const WRAP = `(work) => {
  const { apply } = Reflect; const NativeError = Error; const text = String;
  return (...input) => { try { return apply(work, undefined, input); } catch (error) { throw new NativeError(text(error.message)); } };
}`;

const NO_EXPORT = /^The requested module '([^']{0,512})' does not provide an export named '([^']{0,256})'$/;

function linkFailure(error: unknown): LinkFailure {
  const { name, message } = error as Error;
  const missing = NO_EXPORT.exec(message);
  if (missing === null) return new LinkFailure(name === 'LinkFailure' ? 'Error' : name, message);
  return new LinkFailure('SyntaxError', `Could not find export '${missing[2]}' in module '${missing[1]}'`);
}
