import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { isJsonObject, type JsonValue } from '../../domain/json.js';
import type { CompilerDiagnostic } from '../../domain/type-check.js';
import { killGroup } from '../../lib/files/process-group.js';
import type { Jail, JailedProgram } from '../jail/jail.js';
import { launch } from '../jail/launch.js';
import type { TypeScriptCompiler } from './compiler.js';
import { RpcConnection } from './json-rpc.js';
import { type CheckedFiles, CONFIG_PATH, PROGRAM_PATH, ProjectFiles } from './project-files.js';
import { readDiagnostics } from './read-diagnostics.js';

export interface CheckerProcessOptions {
  readonly jail: Jail;
  readonly compiler: TypeScriptCompiler;
  /** A folder with a link `exe`. See `SelfFolder`. */
  readonly selfFolder: string;
  readonly limits?: Partial<CheckerLimits>;
}

export interface CheckerLimits {
  /** Timeout of one check. The compiler is warm before the first check. */
  readonly checkMs: number;
  readonly startMs: number;
  readonly memoryBytes: number;
}

const MEGABYTE = 1024 * 1024;
export const CHECKER_LIMITS: CheckerLimits = { checkMs: 1_500, startMs: 20_000, memoryBytes: 384 * MEGABYTE };
/** Go reserves its heap in pieces of 64 MB, and a reservation counts against the limit at once. */
const SET_ASIDE_BYTES = 256 * MEGABYTE;
const MAX_MESSAGE_BYTES = 16 * MEGABYTE;
/** Checks after which a process is replaced, whatever state they left it in. */
const CHECKS_IN_LIFE = 5_000;
const CALLBACKS = 'readFile,fileExists,directoryExists,getAccessibleEntries,realpath';

/**
 * One resident native TypeScript compiler in its own jail. It parses what agents write, so it holds only declarations and the
 * program being checked, of one caller. It has no access to files or the network, and its answers are parsed as untrusted input.
 */
export class CheckerProcess {
  readonly #child: ChildProcess;
  readonly #rpc: RpcConnection;
  readonly #files: ProjectFiles;
  readonly #limits: CheckerLimits;
  readonly #gone: Promise<void>;
  #checks = 0;
  #snapshot: number | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #end: string | undefined;

  private constructor({ jail, compiler, selfFolder, limits }: CheckerProcessOptions) {
    this.#limits = { ...CHECKER_LIMITS, ...limits };
    this.#files = new ProjectFiles(compiler.libraries);
    const described = jail.spawn(jailedCompiler(compiler, selfFolder, this.#limits));
    const { child } = launch(described, 'pipe', 'pipe', 'pipe');
    this.#child = child;
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null) throw new Error('the type checker has no channel');
    let complaint = '';
    stderr?.on('data', (chunk: Buffer) => {
      if (complaint === '') complaint = chunk.toString().slice(0, 300);
    });
    this.#rpc = new RpcConnection({
      input: stdin,
      output: stdout,
      answer: (method, params) => this.#files.answer(method, params),
      maxMessageBytes: MAX_MESSAGE_BYTES,
      onBroken: (reason) => this.kill(reason),
    });
    this.#gone = new Promise((resolve) => {
      const ended = (how: string) => {
        const said = complaint.trim().split('\n')[0] ?? '';
        this.#end ??= `it ended with ${how}${said === '' ? '' : ` (${said})`}`;
        this.#rpc.fail(this.#end);
        resolve();
      };
      child.on('error', (error) => ended(error.message));
      child.on('close', (code, signal) => ended(signal ?? `status ${code}`));
    });
  }

  /** Starts a compiler and checks a program with a known mistake. Throws if the answer is not the expected one. */
  static async start(options: CheckerProcessOptions): Promise<CheckerProcess> {
    const started = new CheckerProcess(options);
    try {
      await started.#within(started.#limits.startMs, () => started.#selfTest());
    } catch (error) {
      started.kill(error instanceof Error ? error.message : 'it could not be started');
      await started.#gone;
      throw error;
    }
    return started;
  }

  /** Whether it can run another check. */
  get isUsable(): boolean {
    return this.#end === undefined && this.#checks < CHECKS_IN_LIFE;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /**
   * The compiler's diagnostics for a program; one check at a time. Rejects if the check times out or the process dies. The process
   * is gone then.
   */
  check(source: string, files: CheckedFiles): Promise<readonly CompilerDiagnostic[]> {
    const checked = this.#last.then(() => this.#within(this.#limits.checkMs, () => this.#check(source, files)));
    this.#last = checked.catch(() => {});
    return checked;
  }

  kill(reason: string): void {
    this.#end ??= reason;
    this.#rpc.fail(this.#end);
    killGroup(this.#child);
  }

  async close(): Promise<void> {
    this.kill('it was closed');
    await this.#gone;
  }

  async #selfTest(): Promise<void> {
    await this.#rpc.request('initialize', null);
    const found = await this.#check(SELF_TEST, SELF_TEST_FILES);
    const codes = found.map(({ code, start }) => `${code}@${start}`).join(' ');
    if (codes !== SELF_TEST_ANSWER) throw new Error(`it does not answer as a tested version does (${codes})`);
  }

  async #check(source: string, files: CheckedFiles): Promise<readonly CompilerDiagnostic[]> {
    if (this.#end !== undefined) throw new Error(this.#end);
    const isFirst = this.#checks === 0;
    this.#checks += 1;
    const changed = this.#files.replace(files, source);
    const answer = await this.#rpc.request('updateSnapshot', {
      ...(isFirst ? { openProjects: [CONFIG_PATH] } : { fileChanges: { changed } }),
    });
    const { snapshot, project } = snapshotIn(answer);
    const before = this.#snapshot;
    this.#snapshot = snapshot;
    const about = { snapshot, project, file: PROGRAM_PATH };
    const [syntax, types] = await Promise.all([
      this.#rpc.request('getSyntacticDiagnostics', about),
      this.#rpc.request('getSemanticDiagnostics', about),
    ]);
    // Nothing waits for this reply.
    if (before !== undefined) this.#rpc.request('release', { snapshot: before }).catch(() => {});
    const unreadable = readDiagnostics(syntax).map((each) => ({ ...each, isSyntax: true as const }));
    // Of a program that cannot be read, the compiler guesses the types.
    return unreadable.length > 0 ? unreadable : readDiagnostics(types);
  }

  async #within<Value>(mostMs: number, work: () => Promise<Value>): Promise<Value> {
    const timer = setTimeout(() => this.kill(`it took more than ${mostMs} ms`), mostMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
    }
  }
}

function snapshotIn(answer: JsonValue): { readonly snapshot: number; readonly project: string } {
  const { snapshot, projects } = isJsonObject(answer) ? answer : {};
  const [project] = Array.isArray(projects) ? projects : [];
  const id = isJsonObject(project) ? project.id : undefined;
  if (typeof snapshot !== 'number' || typeof id !== 'string') throw new Error('it opened no project');
  return { snapshot, project: id };
}

function jailedCompiler(
  { binary, libraries }: TypeScriptCompiler,
  selfFolder: string,
  { memoryBytes }: CheckerLimits,
): JailedProgram {
  return {
    runtime: 'go',
    interpreterPath: binary,
    interpreterArguments: ['--api', '--async', '--cwd', '/p', `--callbacks=${CALLBACKS}`],
    // The compiler exits if this file is not beside it. It still reads the language's declarations from the host.
    files: [{ from: join(libraries, 'lib.d.ts'), to: '/bin/lib.d.ts' }],
    folders: [{ from: selfFolder, to: '/proc/self', hidden: [], addons: [] }],
    environment: { GOMEMLIMIT: String(memoryBytes), GOMAXPROCS: '2', GOTRACEBACK: 'none' },
    limits: {
      dataBytes: memoryBytes + SET_ASIDE_BYTES,
      // It lives as long as its host. The timeout kills a check that never ends.
      cpuSeconds: undefined,
      processes: 64,
      fileBytes: 0,
      descriptors: 64,
    },
  };
}

/** A wide character before the mistake tests that positions are counted in UTF-16 units. */
const SELF_TEST = "import { known } from '@codemode/self-test';\nawait known({ text: '\u00fc\u{1f600}', numbr: 1 });\n";
const SELF_TEST_FILES: CheckedFiles = {
  globals: '',
  module: (name) =>
    name === 'self-test'
      ? 'export function known(input: { text: string; number?: number }): Promise<any>;\n'
      : undefined,
};
const SELF_TEST_ANSWER = `2561@${SELF_TEST.indexOf('numbr')}`;
