import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import { expect, test } from 'vitest';
import { openJail } from '../../../src/sandbox/jail/probe.js';
import { SYSCALL_NUMBERS } from '../../../src/sandbox/jail/syscall-numbers.js';
import { jailForTests, nodeProgram, openFolder, runJailed } from '../../support/jailed.js';
import { ROOT, requires, X64 } from '../../support/needs.js';
import { rawProgram, rawResults } from '../../support/raw-syscalls.js';

const run = promisify(execFile);
const ORDINARY_UID = '12345';

/** The probe as its own program, so that it can be started by other kinds of hosts than this one. */
function bundleHost(code: string): string {
  const jail = fileURLToPath(new URL('../../../src/sandbox/jail', import.meta.url));
  const { outputFiles } = buildSync({
    stdin: {
      contents: `import { openJail } from '${jail}/probe.ts'; import { launch } from '${jail}/launch.ts'; ${code}`,
      resolveDir: jail,
    },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

const THREADS = 40;
const threadBomb = rawProgram(
  Array.from({ length: THREADS }, () => ({
    number: SYSCALL_NUMBERS.clone[0],
    arguments: [0x10f00, 0x801000],
    makesChild: true,
  })),
);

for (const level of ['strict', 'namespaces'] as const) {
  const { options } = await jailForTests(level, ROOT, X64);
  const name = `a host that is not root gives its workers a count of threads of their own at level ${level}`;
  test(name, options, async () => {
    using folder = openFolder();
    const interpreterPath = folder.write('bomb', threadBomb);
    const host = folder.write(
      'host.cjs',
      bundleHost(`
      openJail({ isolation: '${level}' }).then((jail) => {
        const limits = { dataBytes: 2 ** 29, cpuSeconds: 10, processes: 20, fileBytes: 0 };
        const { channel } = launch(jail.spawn({ runtime: 'escape', interpreterPath: '${interpreterPath}', interpreterArguments: [], files: [], limits }), 'ignore');
        channel.on('data', (bytes) => console.log(JSON.stringify({ gaps: jail.gaps.length, answer: bytes.toString('base64') })));
      });`),
    );
    const { stdout } = await run('setpriv', [
      '--reuid',
      ORDINARY_UID,
      '--regid',
      ORDINARY_UID,
      '--clear-groups',
      process.execPath,
      host,
    ]);
    const { gaps, answer } = JSON.parse(stdout) as { gaps: number; answer: string };
    const made = rawResults(Buffer.from(answer, 'base64')).filter((result) => result > 0);
    expect({ gaps, made: made.length }).toEqual({ gaps: level === 'strict' ? 0 : 1, made: 19 });
  });
}

const strict = await jailForTests('strict', ROOT);
test('a root host runs files that only root can read', strict.options, async () => {
  using folder = openFolder();
  const base = dirname(folder.write('here', ''));
  mkdirSync(join(base, 'closed'), { mode: 0o700 });
  const from = join(base, 'closed', 'worker.cjs');
  writeFileSync(from, "require('node:fs').writeSync(3, 'ran')", { mode: 0o600 });
  const jail = await openJail({ isolation: 'strict', stagingFolder: join(base, 'staged') });
  const files = [{ from, to: '/codemode/worker.cjs' }];
  const { answer, stderr } = await runJailed(
    jail.spawn(nodeProgram('', { files, interpreterArguments: ['/codemode/worker.cjs'] })),
  );
  expect({ answer: answer.toString(), stderr }).toEqual({ answer: 'ran', stderr: '' });
});

const UNSHARE = { isMet: existsSync('/usr/bin/unshare'), reason: 'there is no /usr/bin/unshare; install util-linux' };
test('a machine without user namespaces gets no weaker jail, but the reasons', requires(ROOT, UNSHARE), async () => {
  using folder = openFolder();
  const host = folder.write(
    'host.cjs',
    bundleHost(
      "openJail().then(() => console.log('opened'), (error) => console.log(JSON.stringify({ code: error.code, message: error.message })))",
    ),
  );
  const script = 'printf 0 > /proc/sys/user/max_user_namespaces; exec "$@"';
  const { stdout } = await run('unshare', [
    '--user',
    '--map-root-user',
    'sh',
    '-euc',
    script,
    'sh',
    process.execPath,
    host,
  ]);
  const { code, message } = JSON.parse(stdout) as { code: string; message: string };
  expect(code).toBe('jail_unavailable');
  expect(message).toMatch(
    /isolation "strict" is unavailable on this machine: .*\n(run|start|allow)[\s\S]*isolation "namespaces" is unavailable on this machine: .*\n/,
  );
});
