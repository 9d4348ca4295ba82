import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asOwner, freePort, OWNER } from './postgres.js';

/** A pooler in front of a database server of this machine. It gives each transaction whichever connection is free. */
export class PgBouncer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'codemode-pgbouncer-'));
  readonly #process: ChildProcess;
  readonly #port: number;

  private constructor(port: number, serverPort: number) {
    this.#port = port;
    const file = join(this.#folder, 'pgbouncer.ini');
    writeFileSync(
      file,
      `[databases]\n* = host=127.0.0.1 port=${serverPort} user=${OWNER}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n` +
        `listen_port = ${port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 4\n`,
    );
    chmodSync(this.#folder, 0o755);
    // It does not run as root either.
    const [program = '', ...args] = asOwner('pgbouncer');
    this.#process = spawn(program, [...args, file], { stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' });
  }

  static async start(serverPort: number): Promise<PgBouncer> {
    const pooler = new PgBouncer(await freePort(), serverPort);
    let log = '';
    await new Promise<void>((resolve, reject) => {
      pooler.#process.stderr?.on('data', (chunk: Buffer) => {
        log += chunk.toString();
        if (log.includes('process up')) resolve();
      });
      pooler.#process.once('exit', (code) => reject(new Error(`pgbouncer ended with ${code}: ${log}`)));
    });
    return pooler;
  }

  url(database: string): string {
    return `postgres://${OWNER}@127.0.0.1:${this.#port}/${database}?sslmode=disable`;
  }

  close(): void {
    this.#process.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
