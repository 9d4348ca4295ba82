import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The built program. */
export const PROGRAM = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Types the input only once this was printed: keys that were pressed before a question do not answer it. */
  readonly typesAfter?: RegExp;
  /** Leaves it to the program to find the `codemode.config.*` of the folder, and to decide whether it is trusted. */
  readonly isUntold?: boolean;
  /** What starts the program, where it is not started directly. */
  readonly through?: readonly string[];
}

/** A file that happens to be in a folder is used only if it is trusted; one that is named is the user's own choice. */
export function namedConfig(folder: string): { CODEMODE_CONFIG?: string } {
  const files = ['yaml', 'yml', 'json'].map((extension) => join(folder, `codemode.config.${extension}`));
  const file = files.find((each) => existsSync(each));
  return file === undefined ? {} : { CODEMODE_CONFIG: file };
}

/** A home of its own for each test: nothing of the user's is read or written. */
export class Home implements Disposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'codemode-cli-')));

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  /** Writes a file, as it is or as JSON, and gives its path. */
  write(name: string, content: unknown, mode = 0o600): string {
    const file = this.path(name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    chmodSync(file, mode);
    return file;
  }

  /** Runs the built program to its end. */
  async run(words: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const { cwd = this.folder, env = {}, input = '', through = [], isUntold = false, typesAfter } = options;
    const [command, ...rest] = [...through, process.execPath, PROGRAM, ...words] as [string, ...string[]];
    const child = spawn(command, rest, {
      cwd,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
        HOME: this.folder,
        CODEMODE_HOME: this.path('state'),
        CODEMODE_KEYRING: 'file',
        ...(isUntold ? {} : namedConfig(cwd)),
        ...env,
      },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (typesAfter?.test(stdout) === true) child.stdin.end(input);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdin.on('error', () => {}); // it may end without reading
    if (typesAfter === undefined) child.stdin.end(input);
    const [status] = (await once(child, 'close')) as [number | null];
    return { status, stdout, stderr };
  }

  /** The same, for what prints JSON. */
  async json<T = Record<string, unknown>>(words: readonly string[], options: RunOptions = {}): Promise<T> {
    const { stdout, stderr, status } = await this.run(words, options);
    try {
      return JSON.parse(stdout) as T;
    } catch {
      throw new Error(`status ${status}, no JSON: ${stdout.slice(0, 500)}\n${stderr}`);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
