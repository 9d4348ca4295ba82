import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openJail } from '../../src/sandbox/jail/probe.js';
import { GO_ROOTS } from '../support/go.js';
import { hollowCacheFolder, openGo, shareCache, type TestGo } from '../support/go-runtime.js';
import { needs } from '../support/needs.js';

const oldest = GO_ROOTS[0] ?? '';
const RARE = 'suffixes := suffixarray.New([]byte("banana"))\nfmt.Println(len(suffixes.Lookup([]byte("an"), -1)))';

describe('compiled packages', needs('go'), () => {
  let cacheFolder: string;
  let go: TestGo;
  // The one compilation of them all that these tests and the others need.
  beforeAll(async () => {
    cacheFolder = await hollowCacheFolder(oldest);
    go = await openGo(oldest, { cacheFolder, spares: { perShape: 0 } });
    await go.runtime.warm();
  });
  afterAll(async () => {
    await go[Symbol.asyncDispose]();
    rmSync(cacheFolder, { recursive: true, force: true });
  });
  const packages = () => join(cacheFolder, readdirSync(cacheFolder).find((name) => name.startsWith('packages-')) ?? '');
  const fileOf = (path: string) => join(packages(), `${path.replaceAll('/', '~')}.a`);
  const isCompiled = (path: string) => existsSync(fileOf(path));

  test('where they were thrown away under a host, they are compiled again [E5]', { timeout: 600_000 }, async () => {
    expect(readdirSync(packages()).length).toBeGreaterThan(10);
    rmSync(packages(), { recursive: true });
    expect((await go.run('fmt.Println("compiled again")')).output).toBe('compiled again\n');
    expect(isCompiled('encoding/json')).toBe(true);
    await shareCache(oldest, cacheFolder);
  });

  test('a rare one is compiled by the first program that imports it, and no other with it [E6]', async () => {
    expect(isCompiled('index/suffixarray')).toBe(false);
    const before = go.runtime.progress();
    expect(await go.run(RARE)).toMatchObject({ output: '2\n', failure: undefined });
    expect(isCompiled('index/suffixarray')).toBe(true);
    expect(isCompiled('net/http')).toBe(false);
    expect(go.runtime.progress()).toEqual({ ...before, compiled: before.compiled + 1 });
  });

  test('another host, or another build, finds them [E5]', async () => {
    await using other = await openGo(oldest, { cacheFolder });
    // Not what the Go command keeps beside them: that of the test before may arrive late.
    const compiled = () => readdirSync(packages()).filter((name) => name.endsWith('.a'));
    const before = compiled();
    expect((await other.run(`${RARE}\nfmt.Println("again")`)).output).toBe('2\nagain\n');
    expect(compiled().sort()).toEqual(before.sort());
  });

  test('a jail that was made ahead is used once, and leaves nothing behind [E5]', async () => {
    const places = join(cacheFolder, 'places');
    await using other = await openGo(oldest, { cacheFolder, spares: { perShape: 2 } });
    await other.runtime.warm();
    expect(readdirSync(places).length).toBeGreaterThanOrEqual(2);
    const reports = await Promise.all(['a', 'b', 'c'].map((text) => other.run(`fmt.Print("${text}", os.Getpid())`)));
    expect(reports.map(({ output }) => output.slice(0, 1))).toEqual(['a', 'b', 'c']);
    await other.runtime.close();
    await go.runtime.close();
    expect(readdirSync(places)).toEqual([]);
  });

  test('what a killed host left of its jails goes when the next one starts', async () => {
    const left = join(cacheFolder, 'places', 'left');
    mkdirSync(left, { recursive: true });
    utimesSync(left, 1, 1);
    await using _ = await openGo(oldest, { cacheFolder });
    expect(existsSync(left)).toBe(false);
  });
});

describe.each(['namespaces', 'none'] as const)('Go at level %s', needs('go', 'bubblewrap'), (level) => {
  test('is compiled and run, calls tools, and is stopped', { timeout: 600_000 }, async () => {
    const jail = await openJail({ isolation: level, unsafelyAllowNoJail: level === 'none' });
    await using go = await openGo(oldest, { jail });
    expect(jail.level).toBe(level);
    const tools = [{ serverId: 'test', name: 'echo', inputSchema: { type: 'object', properties: { a: {} } } }];
    const source = 'text, err := echo(ctx, EchoInput{A: 1})\nfmt.Println(text, err)';
    const report = await go.run(source, { tools, functions: { echo: (input) => input } });
    expect(report).toMatchObject({ output: '{"a":1} <nil>\n', failure: undefined });
    const rare = await go.run('fmt.Println(ascii85.MaxEncodedLen(4))');
    expect(rare).toMatchObject({ output: '5\n', failure: undefined });
    expect((await go.run('for {}', { limits: { timeoutMs: 500 } })).failure).toMatchObject({ limit: 'timeout' });
    const files = await go.run('_, err := os.ReadFile("/etc/passwd")\nfmt.Println(err == nil)');
    expect(files.output).toBe(`${level === 'none'}\n`);
  });
});
