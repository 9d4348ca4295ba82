import type { CallerId, LogEntry, Program } from '../domain/execution.js';
import type { IsolationLevel } from '../domain/isolation.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import type { CallTool, ExecutionSummary } from './execution.js';
import { execute } from './execution.js';

export interface RunOptions {
  readonly caller: CallerId;
  readonly program: Program;
  readonly callTool?: CallTool;
  readonly signal?: AbortSignal;
  readonly onLog?: (entry: LogEntry) => void;
}

/** What we do for callers: run their programs. Owns the sandbox and closes it. */
export class Host {
  readonly #sandbox: Sandbox;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  get isolation(): IsolationLevel {
    return this.#sandbox.jail.level;
  }

  get isolationDescription(): string {
    return this.#sandbox.jail.description;
  }

  /** Starts processes ahead of the first program. */
  async warm(): Promise<void> {
    await this.#sandbox.pool.warm();
  }

  /** Runs one program to its end. A program that fails is a result; only the host's own failures are thrown. */
  run({ callTool = noSuchCall, ...options }: RunOptions): Promise<ExecutionSummary> {
    return execute(this.#sandbox, { ...options, callTool });
  }

  async close(): Promise<void> {
    await this.#sandbox.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

const noSuchCall: CallTool = async ({ target }) => ({
  ok: false,
  error: {
    errorClass: 'ToolNotFoundError',
    message: `there is no tool ${JSON.stringify(target)}`,
    hint: 'No server is connected in this run.',
  },
});
