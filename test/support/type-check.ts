import { dirname, join } from 'node:path';
import ts from 'typescript';

/** As much of the standard library as declarations and values need; the real one costs seconds. */
const SMALL_LIBRARY = `
interface Array<T> { length: number; [n: number]: T }
interface ReadonlyArray<T> { length: number; [n: number]: T }
interface Boolean { valueOf(): boolean } interface Number { toFixed(): string } interface String { charAt(at: number): string }
interface Function {} interface CallableFunction {} interface NewableFunction {} interface IArguments {}
interface Object {} interface RegExp {} interface Symbol {}
interface PromiseLike<T> { then(done: (value: T) => unknown): unknown }
interface Promise<T> extends PromiseLike<T> { readonly finally: T }
type Record<K extends keyof any, T> = { [P in K]: T };
type NonNullable<T> = T & {};
type Parameters<T extends (...args: any) => any> = T extends (...args: infer P) => any ? P : never;
type ReturnType<T extends (...args: any) => any> = T extends (...args: any) => infer R ? R : never;
type Awaited<T> = T extends Promise<infer V> ? V : T;
`;

export interface Complaint {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** What the compiler says about these files, under `strict`, in one program; nothing is read from disk. */
export function typeCheck(files: ReadonlyMap<string, string>): readonly Complaint[] {
  return check(new Map([['/library.d.ts', SMALL_LIBRARY], ...files]), { noLib: true });
}

/** The same for whole programs, with all of JavaScript and what the sandbox has of the web; takes a second or two. */
export function typeCheckPrograms(files: ReadonlyMap<string, string>): readonly Complaint[] {
  return check(new Map([['/sandbox.d.ts', SANDBOX_LIBRARY], ...files]), {
    lib: ['lib.es2023.d.ts'],
    skipDefaultLibCheck: true,
  });
}

const SANDBOX_LIBRARY = `
declare const console: { log(...values: unknown[]): void };
declare function setTimeout(callback: () => void, delayMs?: number): number;
`;
const LIBRARY_FOLDER = dirname(ts.getDefaultLibFilePath({}));
/** Parsed once for all checks of a test file. */
const libraryFiles = new Map<string, ts.SourceFile>();

function libraryFile(name: string): ts.SourceFile {
  const known = libraryFiles.get(name);
  if (known !== undefined) return known;
  const file = ts.createSourceFile(name, ts.sys.readFile(name) ?? '', ts.ScriptTarget.ES2022);
  libraryFiles.set(name, file);
  return file;
}

function check(texts: ReadonlyMap<string, string>, library: ts.CompilerOptions): readonly Complaint[] {
  const options: ts.CompilerOptions = {
    ...library,
    strict: true,
    noEmit: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ES2022,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host: ts.CompilerHost = {
    fileExists: (name) => texts.has(name),
    readFile: (name) => texts.get(name),
    getSourceFile(name) {
      if (options.noLib !== true && name.startsWith(LIBRARY_FOLDER)) return libraryFile(name);
      const text = texts.get(name);
      // Words in comments have no meaning for types, and parsing them takes most of the time.
      const jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
      const languageVersion = ts.ScriptTarget.ES2022;
      return text === undefined ? undefined : ts.createSourceFile(name, text, { languageVersion, jsDocParsingMode });
    },
    getDefaultLibFileName: () => (options.noLib === true ? '/library.d.ts' : join(LIBRARY_FOLDER, 'lib.d.ts')),
    getDefaultLibLocation: () => LIBRARY_FOLDER,
    writeFile: () => undefined,
    getCurrentDirectory: () => '/',
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  const diagnostics = [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...program.getSyntacticDiagnostics(),
    ...program.getSemanticDiagnostics(),
  ];
  return diagnostics.map((diagnostic) => ({
    file: diagnostic.file?.fileName ?? '',
    line: diagnostic.file?.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line ?? 0,
    message: ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'),
  }));
}
