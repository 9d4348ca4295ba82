import type { IsolationLevel } from '../../domain/isolation.js';
import type { Jail, JailedProgram, Spawn } from './jail.js';
import { launch } from './launch.js';

/**
 * Starts one Node in the jail that tries to get out, and says why the jail is not to be trusted; undefined when all
 * attempts failed as they should. A jail that merely starts proves nothing: a filter that was not installed, or a mount
 * that did not happen, starts just as well.
 */
export async function testJail(jail: Jail, interpreterPath: string): Promise<string | undefined> {
  const { answer, complaint } = await runInJail(selfTestSpawn(jail, interpreterPath));
  if (answer === undefined) return complaint === '' ? 'the process in the jail ended without an answer' : complaint;
  let seen: unknown;
  try {
    seen = JSON.parse(answer);
  } catch {
    return 'the process in the jail gave no readable answer';
  }
  return compare(seen, EXPECTED[jail.level]);
}

/** The process that tries to get out. */
export function selfTestSpawn(jail: Jail, interpreterPath: string): Spawn {
  return jail.spawn({ ...SELF_TEST, interpreterPath });
}

/** Attempts that leave nothing behind when they succeed: then this runs on the open machine. */
const SELF_TEST: Omit<JailedProgram, 'interpreterPath'> = {
  runtime: 'quickjs',
  interpreterArguments: [
    '-e',
    `const fs = require('node:fs'), net = require('node:net'), { spawnSync } = require('node:child_process');
     const code = (attempt) => { try { attempt(); return 'done'; } catch (error) { return error.code; } };
     const seen = {
       read: code(() => fs.readFileSync('/etc/passwd')),
       write: code(() => fs.accessSync('/', fs.constants.W_OK)),
       process: process.pid,
       fork: spawnSync(process.execPath, ['-e', '0'], { stdio: 'inherit' }).error?.code ?? 'done',
       environment: Object.keys(process.env).filter((name) => name !== 'PWD').sort().join(),
     };
     net.connect(9, '192.0.2.1').on('error', (error) => {
       fs.writeSync(3, JSON.stringify({ ...seen, network: error.code }));
       process.exit(0);
     });`,
  ],
  files: [],
  limits: { dataBytes: 512 * 1024 * 1024, cpuSeconds: 10, processes: 32, fileBytes: 0 },
};

const SAME_VIEW = {
  read: 'ENOENT',
  write: 'EROFS',
  process: 1,
  environment: 'LD_LIBRARY_PATH,UV_USE_IO_URING',
};

const EXPECTED: Record<IsolationLevel, Readonly<Record<string, string | number>>> = {
  strict: { ...SAME_VIEW, fork: 'EPERM', network: 'EPERM' },
  // Without a filter a process can be started and a socket made; it has nowhere to go.
  namespaces: { ...SAME_VIEW, fork: 'done', network: 'ENETUNREACH' },
  none: {},
};

function compare(seen: unknown, expected: Readonly<Record<string, string | number>>): string | undefined {
  const found = typeof seen === 'object' && seen !== null ? new Map<string, unknown>(Object.entries(seen)) : new Map();
  const wrong = Object.entries(expected).filter(([attempt, answer]) => found.get(attempt) !== answer);
  if (wrong.length === 0) return undefined;
  const list = wrong.map(
    ([attempt, answer]) => `${attempt}: ${String(found.get(attempt))} instead of ${String(answer)}`,
  );
  return `the jail started but does not hold (${list.join(', ')})`;
}

const MAX_ANSWER_BYTES = 4096;
const MAX_COMPLAINT_BYTES = 2048;
/** Starting Node in a jail takes 60 ms; a loaded machine may take fifty times that. */
const TEST_TIMEOUT_MS = 10_000;

interface JailAnswer {
  readonly answer: string | undefined;
  readonly complaint: string;
}

function runInJail(spawn: Spawn): Promise<JailAnswer> {
  return new Promise((resolve) => {
    const { child, channel } = launch(spawn, 'pipe');
    let answer = '';
    let complaint = '';
    const timer = setTimeout(() => {
      complaint ||= `no answer within ${TEST_TIMEOUT_MS} ms`;
      child.kill('SIGKILL');
    }, TEST_TIMEOUT_MS);
    channel.on('data', (bytes: Buffer) => {
      answer = (answer + bytes.toString()).slice(0, MAX_ANSWER_BYTES);
    });
    channel.on('error', () => {});
    child.stderr?.on('data', (bytes: Buffer) => {
      complaint = (complaint + bytes.toString()).slice(0, MAX_COMPLAINT_BYTES);
    });
    child.on('error', (error) => {
      complaint ||= error.message;
    });
    child.on('close', () => {
      clearTimeout(timer);
      resolve({ answer: answer === '' ? undefined : answer, complaint: complaint.trim() });
    });
  });
}
