import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
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
    for (const [, name] of text.matchAll(/^(?:var \w+ = )?require\("(\.\/part-\w+\.cjs)"\)/gm))
      follow(join(dirname(file), name as string));
    for (const [, name] of text.matchAll(/=> (?:__toESM\w*\()?require\("(\.\/part-\w+\.cjs)"\)/g))
      later.add(join(dirname(file), name as string));
  };
  follow(join(DIST, entry));
  return { atStart: [...atStart], later: [...later] };
}

const isTracing = (file: string) => /resourceSpans|class SpanTracer/.test(readFileSync(file, 'utf8'));

test.each(['main.cjs', 'index.cjs'])(
  '%s reads nothing of what records and sends traces when it starts [X4]',
  (entry) => {
    const { atStart, later } = reachable(entry);
    expect(atStart.length).toBeGreaterThan(1);
    expect(atStart.filter(isTracing)).toEqual([]);
    const reached = [...later, ...later.flatMap((file) => reachable(file.slice(DIST.length)).later)];
    expect(reached.some(isTracing)).toBe(true);
  },
);

test('a program that calls a server over stdio does not load what HTTP and WebSocket need', async () => {
  using home = new Home();
  const config = home.write('codemode.config.json', { mcpServers: { everyday: everyday() } });
  const input = `import { echo } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await echo({ message: 'x' });`;
  const env = { NODE_OPTIONS: `--import ${home.write('note-loads.mjs', NOTE_LOADS)}` };
  const { stdout, stderr } = await home.run(['--config', config, 'run', '-'], { input, env });
  expect(JSON.parse(stdout)).toMatchObject({ diagnostics: [] });
  const parts = [...stderr.matchAll(/^loads .*\/dist\/([\w-]+\.cjs)$/gm)].map(([, name]) => name as string);
  const packages = new Set(parts.flatMap(packagesOf));
  expect(packages).toContain('@modelcontextprotocol/client');
  expect([...packages].filter((name) => ['undici', 'ws', 'fastify', 'jose', 'prom-client'].includes(name))).toEqual([]);
});

/** Loaded before the program: writes the path of every part that it reads to stderr. */
const NOTE_LOADS = `
  import fs from 'node:fs';
  const read = fs.readFileSync;
  fs.readFileSync = (file, ...rest) => {
    if (String(file).endsWith('.cjs')) fs.writeSync(2, 'loads ' + file + '\\n');
    return read(file, ...rest);
  };`;

/** What the map beside a part of the build says that it was made of. */
function packagesOf(part: string): string[] {
  const { sources } = JSON.parse(readFileSync(join(DIST, `${part}.map`), 'utf8')) as { sources: string[] };
  return sources.flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []);
}

describe('the code that V8 made of the program', () => {
  /** A build of its own, to which something can happen. */
  class Build extends Home {
    readonly #kept = () => readdirSync(this.path('dist')).filter((name) => name.startsWith('code-'));

    constructor() {
      super();
      mkdirSync(this.path('dist'));
      for (const name of readdirSync(DIST).filter((each) => /\.c?js$/.test(each))) {
        copyFileSync(join(DIST, name), this.path('dist', name));
      }
      copyFileSync(join(DIST, '../package.json'), this.path('package.json'));
    }

    /** The only file that a start leaves. */
    get kept(): string {
      expect(this.#kept()).toHaveLength(1);
      return this.path('dist', this.#kept()[0] as string);
    }

    help(...options: string[]): string {
      return execFileSync(process.execPath, [...options, this.path('dist/bin.js'), '--help'], { encoding: 'utf8' });
    }
  }

  test('is kept beside it by the first start, and taken by the next', () => {
    using build = new Build();
    const help = build.help();
    const { mtimeNs } = statSync(build.kept, { bigint: true });
    // Only the text changes. V8 compares its length.
    const main = build.path('dist/main.cjs');
    writeFileSync(main, readFileSync(main, 'utf8').replaceAll('[options]', '[changed]'));
    expect(build.help()).toBe(help);
    expect(statSync(build.kept, { bigint: true }).mtimeNs).toBe(mtimeNs);
    // A file that others can write is not taken.
    chmodSync(build.kept, 0o666);
    expect(build.help()).toBe(help.replaceAll('[options]', '[changed]'));
    rmSync(build.kept);
    expect(build.help()).toBe(help.replaceAll('[options]', '[changed]'));
  });

  test('is not needed: without it, with less of it, and where it was made with other options', () => {
    using build = new Build();
    const help = build.help();
    const whole = readFileSync(build.kept);
    for (const length of [0, 3, 50, 5_000, whole.length - 1]) {
      writeFileSync(build.kept, whole.subarray(0, length));
      expect(build.help(), `${length} bytes`).toBe(help);
    }
    expect(build.help('--stack-size=900')).toBe(help);
    const { kept } = build;
    rmSync(kept);
    mkdirSync(kept);
    expect(build.help()).toBe(help);
    // Nothing half-written is left.
    expect(build.kept).toBe(kept);
  });
});
