import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { PROGRAM } from '../../support/cli.js';
import { LedgerHome } from '../../support/ledger.js';
import { needs } from '../../support/needs.js';
import { LANGUAGES, RunnerHome, read } from '../../support/runner.js';

const NUL_AND_MORE = 'globalThis.result = 1;\0';

describe('codemode runner answers what it cannot run with one line too', () => {
  test.each<[string, string, string | RegExp]>([
    ['nothing', '', 'is empty'],
    ['blanks', ' \n\t\n', 'is empty'],
    ['a NUL character', NUL_AND_MORE, 'NUL'],
    ['fifty megabytes', 'x'.repeat(50_000_000), 'more than 262144 bytes'],
  ])('%s on stdin [B1]', async (_, input, message) => {
    using home = new RunnerHome();
    const { status, error, envelope } = await home.runner(['node'], input);
    expect([status, error?.type]).toEqual([1, 'InvalidInput']);
    expect(error?.message).toContain(message);
    expect(envelope.input_digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test('bytes that are no UTF-8 [B1]', async () => {
    using home = new RunnerHome();
    const words = ['--config', home.config, 'runner', 'python'];
    const child = spawn(process.execPath, [PROGRAM, ...words], { env: { PATH: process.env.PATH, HOME: home.folder } });
    child.stdin.end(Buffer.from([0x70, 0xff, 0xfe]));
    expect(await ended(child)).toMatchObject({ status: 1, error: { type: 'InvalidInput' } });
  });

  test.each<[readonly string[], string]>([
    [[], 'node or python'],
    [['ruby'], '"ruby"'],
    [['node', '--timeout', 'soon'], '--timeout'],
    [['node', '--timeout'], '--timeout'],
    [['node', '--timeout', '9999999999'], '--timeout: the most is'],
    [['python', '--memory', '-1'], '--memory'],
    [['python', '--memory', '5TB'], '--memory'],
    [['node', '--tiemout', '5'], '"--tiemout"'],
    [['node', 'more'], '"more"'],
  ])('wrong words, with status 2: %j [B1, B2]', async (words, message) => {
    using home = new RunnerHome();
    const { status, error, stderr, envelope } = await home.runner(words, 'x = 1');
    expect(envelope.input_digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect([status, error?.type]).toEqual([2, 'InvalidArguments']);
    expect(error?.message).toContain(message);
    expect(stderr).toMatch(/^codemode: [^\n]+\n$/);
  });

  test.each<readonly string[]>([
    ['--bogus', 'runner', 'node'],
    ['--bogus', 'value', 'runner', 'python'],
    ['--config', 'runner', 'node'],
    ['runner', 'node', '--config'],
  ])('wrong words before it, with status 2: %s %s %s %s [B1, B2]', async (...words) => {
    using home = new RunnerHome();
    const { status, error, envelope } = read(await home.run(words, { input: 'x = 1' }));
    expect([status, error?.type]).toEqual([2, 'InvalidArguments']);
    expect(error?.message).not.toContain('error:');
    expect(envelope.tool_name).toBe(`${words.includes('node') ? 'node' : 'python'}-runner`);
  });

  test('a configuration that is broken, or not there [B1]', async () => {
    using home = new RunnerHome();
    home.write('codemode.config.json', '{"mcpServers": [');
    expect(await home.runner(['python'], 'result = 1')).toMatchObject({
      status: 1,
      error: { type: 'ConfigurationError', retryable: false },
    });
    const missing = await home.run(['--config', home.path('none.json'), 'runner', 'node'], { input: '1' });
    expect(read(missing)).toMatchObject({ status: 1, error: { type: 'ConfigurationError' } });
  });

  test(
    'a Python that is missing or too old, with what to install; the other language runs on [B1]',
    needs('bubblewrap'),
    async () => {
      using home = new RunnerHome();
      const old = home.write(
        'bin/python3',
        `#!/bin/sh\necho '["3.9.2","cpython","/usr/bin/python3","/usr","/usr/lib","/usr/lib"]'\n`,
        0o755,
      );
      for (const [python, reason] of [
        [old, 'is Python 3.9.2: too old'],
        [home.path('nowhere'), 'is not a working Python'],
      ]) {
        home.write('codemode.config.json', { runner: { python } });
        const { status, error } = await home.runner(['python'], 'result = 1');
        expect([status, error?.type]).toEqual([1, 'RuntimeNotFound']);
        expect(error?.message).toContain(reason);
        expect(error?.message).toContain('Install Python 3.11 or newer');
      }
      expect(await home.runner(['node'], 'globalThis.result = 1')).toMatchObject({ status: 0, data: 1 });
      const doctor = await home.run(['--config', home.config, 'doctor']);
      expect(doctor.stdout).toMatch(/ok\s+Node for programs: \d+/);
      expect(doctor.stdout).toMatch(/warn\s+Python for programs: .*cannot run\n\s+Install Python 3\.11/);
    },
  );
});

test.each(LANGUAGES)(
  'a host that is told to stop ends its %s program and says so on the one line [B1]',
  needs('bubblewrap', 'python3'),
  async (language) => {
    using home = new LedgerHome();
    const endless = {
      node: `import { look } from './servers/ledger/index.js'; await look({ text: 'up' }); setInterval(() => {}, 1000);`,
      python: `import time\nfrom servers.ledger import look\nawait look({'text': 'up'})\ntime.sleep(60)`,
    };
    const words = ['--config', home.config, 'runner', language];
    const environment = { PATH: process.env.PATH, HOME: home.folder, CODEMODE_KEYRING: 'file' };
    const child = spawn(process.execPath, [PROGRAM, ...words], { env: environment });
    const end = ended(child);
    child.stdin.end(endless[language]);
    await vi.waitFor(() => expect(home.lines).toEqual(['look up']), { timeout: 60_000, interval: 50 });
    child.kill('SIGTERM');
    expect(await end).toMatchObject({ status: 1, error: { type: 'Cancelled', retryable: false } });
    const listing = [PROGRAM, '--config', home.config, 'runs', '--json'];
    const { stdout } = spawnSync(process.execPath, listing, { env: environment, encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ profile: 'runner', state: 'cancelled' })]);
  },
);

async function ended(child: ReturnType<typeof spawn>) {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [status] = (await once(child, 'close')) as [number | null];
  return read({ status, stdout, stderr });
}
