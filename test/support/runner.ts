import { execFileSync } from 'node:child_process';
import type { ProcessLanguage } from '../../src/domain/process-program.js';
import type { Envelope } from '../../src/profiles/runner/envelope.js';
import { Home, type RunOptions } from './cli.js';
import { fixture } from './upstreams.js';

export const LANGUAGES = ['node', 'python'] as const satisfies readonly ProcessLanguage[];

/** The same program in both languages. */
export type Sources = Readonly<Record<ProcessLanguage, string>>;

export interface RunnerEnded {
  readonly status: number | null;
  readonly envelope: Envelope;
  readonly line: string;
  readonly stderr: string;
  /** `data` of a program that must have come to its end. */
  readonly data: unknown;
  readonly error: { readonly type: string; readonly message: string; readonly retryable: boolean } | undefined;
}

/** `codemode runner`, with the everyday server as `every-day`. Throws unless stdout is one line of JSON. */
export class RunnerHome extends Home {
  readonly config: string;

  constructor(config: object = {}) {
    super();
    this.config = this.write('codemode.config.json', {
      mcpServers: { 'every-day': { command: process.execPath, args: [fixture('everyday-server.mjs')] } },
      ...config,
    });
  }

  async runner(words: readonly string[], input: string, options: RunOptions = {}): Promise<RunnerEnded> {
    const ended = await this.run(['--config', this.config, 'runner', ...words], { ...options, input });
    return read(ended);
  }
}

export function read({ status, stdout, stderr }: Awaited<ReturnType<Home['run']>>): RunnerEnded {
  if (!/^\{[^\n]*\}\n$/.test(stdout)) throw new Error(`not one line: ${stdout.slice(0, 2_000)}\n${stderr}`);
  const envelope = JSON.parse(stdout) as Envelope;
  const { result } = envelope;
  return {
    ...{ status, envelope, line: stdout, stderr },
    data: result.ok ? result.data : undefined,
    error: result.ok ? undefined : result.error,
  };
}

/** As anybody can recompute it: by the document's own program. */
export function outputDigestByPython(line: string): string {
  const program = `import hashlib, json, sys
payload = json.dumps(json.loads(sys.stdin.read())["result"], separators=(",", ":"), sort_keys=True).encode("utf-8")
print("sha256:" + hashlib.sha256(payload).hexdigest())`;
  return execFileSync('/usr/bin/python3', ['-c', program], { input: line, encoding: 'utf8' }).trim();
}
