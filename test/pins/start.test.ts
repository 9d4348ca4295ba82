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
  const env = { NODE_OPTIONS: `--import ${home.write('note-loads.mjs', NOTE_LOADS)}` };
  const { stdout, stderr } = await home.run(['--config', config, 'run', '-'], { input, env });
  expect(JSON.parse(stdout)).toMatchObject({ diagnostics: [] });
  const parts = [...stderr.matchAll(/^loads .*\/dist\/([\w-]+\.js)$/gm)].map(([, name]) => name as string);
  const packages = new Set(parts.flatMap(packagesOf));
  expect(packages).toContain('@modelcontextprotocol/client');
  expect([...packages].filter((name) => ['undici', 'ws', 'fastify', 'jose', 'prom-client'].includes(name))).toEqual([]);
});

/** Loaded before the program: writes the address of every module that it loads to stderr. */
const NOTE_LOADS = `
  import { register } from 'node:module';
  register('data:text/javascript,' + encodeURIComponent(\`
    import { writeSync } from 'node:fs';
    export async function load(url, context, next) {
      writeSync(2, 'loads ' + url + '\\\\n');
      return next(url, context);
    }\`));`;

/** What the map beside a part of the build says that it was made of. */
function packagesOf(part: string): string[] {
  const { sources } = JSON.parse(readFileSync(join(DIST, `${part}.map`), 'utf8')) as { sources: string[] };
  return sources.flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []);
}
