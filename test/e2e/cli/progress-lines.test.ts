import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { Home, PROGRAM } from '../../support/cli.js';
import { startCommand } from '../../support/command.js';
import { GO_ROOTS } from '../../support/go.js';
import { filledCacheFolder, freshCacheFolder } from '../../support/go-runtime.js';
import { needs } from '../../support/needs.js';
import { fixture } from '../../support/upstreams.js';

const TOOL = 'codemode.run';

/** A home whose one server takes 7 seconds to start, as one does that npx has to download. */
function slowHome(): Home & { config: string } {
  const home = new Home();
  const slow = home.write(
    'slow.mjs',
    `await new Promise((resolve) => setTimeout(resolve, 7_000)); await import(${JSON.stringify(fixture('everyday-server.mjs'))});`,
  );
  const config = home.write('codemode.config.json', {
    mcpServers: { slow: { command: process.execPath, args: [slow] } },
  });
  return Object.assign(home, { config });
}

const USES_IT = `import * as slow from '@codemode/servers/slow'; globalThis.__codemode_result__ = Object.keys(slow).length > 1;`;

test.concurrent('a piped run names the server that it waits for, each 5 seconds, on stderr', async () => {
  using home = slowHome();
  const { stdout, stderr, status } = await home.run(['--config', home.config, 'run', '-'], { input: USES_IT });
  expect({ status, result: JSON.parse(stdout).result }).toEqual({ status: 0, result: true });
  expect(stderr).toContain('codemode: connecting servers: waiting for slow, 5 s so far\n');
});

test.concurrent('a piped listing names the server that it waits for', async () => {
  using home = slowHome();
  const { stderr } = await home.run(['--config', home.config, 'servers']);
  expect(stderr).toMatch(/^codemode: connecting servers: .*waiting for slow, 5 s so far$/m);
});

test.concurrent('a client that asked for progress hears which server its run waits for', async () => {
  using home = slowHome();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, '--config', home.config, 'mcp'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home.folder,
      CODEMODE_HOME: home.path('state'),
      CODEMODE_KEYRING: 'file',
    },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode: 'legacy' } });
  await client.connect(transport);
  try {
    const said: string[] = [];
    await client.callTool(
      { name: TOOL, arguments: { code: USES_IT, requestedCapabilities: ['slow'] } },
      { onprogress: ({ message }) => said.push(message ?? '') },
    );
    expect(said).toContainEqual(expect.stringMatching(/^connecting servers: waiting for slow, \d+ s so far$/));
  } finally {
    await client.close();
  }
});

test('the first program in Go says that the standard library is compiled, and SIGTERM ends it', {
  ...needs('go'),
  timeout: 300_000,
}, async () => {
  using home = new Home();
  const program = home.write('program.go', 'fmt.Println("compiled")\nreturn nil\n');
  const [root = ''] = GO_ROOTS;
  const wordsFor = (cacheFolder: string) => {
    const go = { path: join(root, 'bin/go'), cacheFolder };
    return ['--config', home.write('codemode.config.json', { mcpServers: {}, go }), 'run', program];
  };
  const empty = freshCacheFolder();
  // That such a run ends is tested with the packages that were discarded, in test/sandbox/go-packages.test.ts.
  const first = startCommand(wordsFor(empty), { cwd: home.folder });
  const said = await new Promise<string>((resolve) => {
    let stderr = '';
    first.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      if (stderr.includes('so far')) resolve(stderr);
    });
    first.once('exit', () => resolve(stderr));
  });
  expect(said).toContain(
    'codemode: compiling the Go standard library, 5 s so far; only the first run waits for this\n',
  );
  first.kill();
  await once(first, 'exit');
  // It did not wait for the end of that compilation, up to a minute away.
  expect(readdirSync(empty).filter((name) => name.startsWith('packages-'))).toEqual([]);
  const full = await filledCacheFolder(root);
  const second = await home.run(wordsFor(full));
  expect(JSON.parse(second.stdout)).toEqual({ output: 'compiled\n' });
  expect(second.stderr).not.toContain('standard library');
  for (const folder of [empty, full]) rmSync(folder, { recursive: true, force: true });
});
