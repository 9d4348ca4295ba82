import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Home } from '../support/cli.js';
import { everyday } from '../support/program.js';

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));

/** Every file of the build that is read before anything runs, and what is only read when somebody asks for it. */
function reachable(entry: string) {
  const atStart = new Set<string>();
  const later = new Set<string>();
  const follow = (file: string): void => {
    if (atStart.has(file)) return;
    atStart.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, name] of text.matchAll(/(?:from|^import) "(\.\/part-\w+\.js)"/gm))
      follow(join(dirname(file), name as string));
    for (const [, name] of text.matchAll(/import\("(\.\/part-\w+\.js)"\)/g))
      later.add(join(dirname(file), name as string));
  };
  follow(join(DIST, entry));
  return { atStart: [...atStart], later: [...later] };
}

const isTracing = (file: string) => /resourceSpans|class SpanTracer/.test(readFileSync(file, 'utf8'));

test.each(['main.js', 'index.js'])('%s reads nothing of what records and sends traces when it starts [X4]', (entry) => {
  const { atStart, later } = reachable(entry);
  expect(atStart.length).toBeGreaterThan(1);
  expect(atStart.filter(isTracing)).toEqual([]);
  const reached = [...later, ...later.flatMap((file) => reachable(file.slice(DIST.length)).later)];
  expect(reached.some(isTracing)).toBe(true);
});

test('a program that calls a server over stdio does not load what HTTP and WebSocket need', async () => {
  using home = new Home();
  const config = home.write('codemode.config.json', { mcpServers: { everyday: everyday() } });
  const input = `import { echo } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await echo({ message: 'x' });`;
  const { stdout, stderr } = await home.run(['--config', config, 'run', '-'], { input, env: { NODE_DEBUG: 'module' } });
  expect(JSON.parse(stdout)).toMatchObject({ diagnostics: [] });
  const packages = [...stderr.matchAll(/load "[^"]*\/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].map(([, name]) => name);
  // Of its own libraries most are modules, and bundled: these are packages in the older format, of which it says so.
  expect(new Set(packages)).toContain('libsql');
  expect(packages.filter((name) => name === 'undici' || name === 'ws')).toEqual([]);
});
