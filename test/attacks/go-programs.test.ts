import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tool } from '../../src/domain/tool.js';
import { GO_ROOTS } from '../support/go.js';
import { filledCacheFolder, openGo, type TestGo } from '../support/go-runtime.js';
import { needs } from '../support/needs.js';

const SECRET: Tool = { serverId: 'test', name: 'secret', inputSchema: {} };
const newest = GO_ROOTS.at(-1) ?? '';

describe('a Go program that attacks', needs('go', 'bubblewrap'), () => {
  let go: TestGo;
  beforeAll(async () => {
    go = await openGo(newest);
    await go.runtime.warm();
  }, 600_000);
  afterAll(() => go[Symbol.asyncDispose]());

  test('finds no files, no environment, no network, no children and nothing to write to [E6]', async () => {
    const { output, failure } = await go.run(`_, read := os.ReadFile("/etc/passwd")
_, list := os.ReadDir("/codemode")
write := os.WriteFile("/tmp/x", nil, 0o600)
fmt.Println(read != nil, list != nil, write != nil)
var names []string
for _, each := range os.Environ() {
	name, _, _ := strings.Cut(each, "=")
	names = append(names, name)
}
sort.Strings(names)
fmt.Println(names)
socket, _, refused := syscall.RawSyscall(syscall.SYS_SOCKET, 2, 1, 0)
fmt.Println(int(socket), refused != 0)
_, _, refused = syscall.RawSyscall(syscall.SYS_FORK, 0, 0, 0)
fmt.Println(refused != 0)
_, err := os.StartProcess("/bin/program", []string{"x"}, &os.ProcAttr{})
fmt.Println(err != nil)
entries, _ := os.ReadDir("/")
for _, each := range entries {
	fmt.Print(each.Name(), " ")
}`);
    expect(failure).toBeUndefined();
    expect(output).toBe(
      'true true true\n[GOMEMLIMIT GOTRACEBACK LD_LIBRARY_PATH PWD UV_USE_IO_URING]\n-1 true\ntrue\ntrue\nbin program ',
    );
  });

  test.each<[string, string, object]>([
    ['computes forever', 'for {\n}', { kind: 'limit', limit: 'timeout' }],
    ['sleeps forever', 'time.Sleep(time.Hour)', { kind: 'limit', limit: 'timeout' }],
    ['waits forever', 'select {}', { kind: 'exception', name: 'fatal error' }],
    [
      'takes all memory',
      'var all [][]byte\nfor {\n\tpart := make([]byte, 16<<20)\n\tfor i := range part {\n\t\tpart[i] = 1\n\t}\n\tall = append(all, part)\n}',
      { kind: 'limit', limit: 'memory' },
    ],
    ['asks for a terabyte', 'x := make([]byte, 1<<40)\nfmt.Println(len(x))', { kind: 'limit', limit: 'memory' }],
    [
      'prints forever',
      'line := strings.Repeat("x", 1<<20)\nfor {\n\tfmt.Println(line)\n}',
      { kind: 'limit', limit: 'output' },
    ],
    [
      'overflows its stack',
      'var f func(int) int\nf = func(i int) int { return f(i+1) + 1 }\nfmt.Println(f(0))',
      { kind: 'limit', limit: 'memory' },
    ],
  ])('is ended when it %s', async (_, source, failure) => {
    const report = await go.run(`${source}`, { limits: { timeoutMs: 4_000, maxMemoryBytes: 64 << 20 } });
    expect(report.failure).toMatchObject(failure);
    expect((await go.run('fmt.Println("next")')).output).toBe('next\n');
  });

  test.each<[string, string]>([
    ['sends a file', '{"type":"process/file","execution":"%s","name":"program"}'],
    ['speaks for another program', '{"type":"call/request","execution":"other","call":1,"target":"test/secret"}'],
    ['says hello again', '{"type":"worker/ready","protocol":2,"build":"x","role":"go"}'],
    ['sends a message that the protocol does not have', '{"type":"host/hello"}'],
  ])('is ended when it %s on its channel', async (_, head) => {
    const { failure } = await go.run(
      `head := ${JSON.stringify(head)}
frame := make([]byte, 8)
binary.LittleEndian.PutUint32(frame, uint32(4+len(head)))
binary.LittleEndian.PutUint32(frame[4:], uint32(len(head)))
syscall.Write(3, append(frame, head...))
select {}`,
      { tools: [SECRET], functions: { secret: () => 'x' } },
    );
    expect(failure).toMatchObject({ kind: 'worker_lost' });
    expect(go.calls.filter(({ target }) => target === 'test/secret')).toEqual([]);
  });

  test('can claim an end of its own, and nothing more', async () => {
    const { output, failure } = await go.run('fmt.Println("a")\nos.Exit(3)');
    expect({ output, failure }).toMatchObject({ output: 'a\n', failure: { kind: 'exception', name: 'ExitError' } });
    expect((await go.run('fmt.Println("b")\nos.Exit(0)')).failure).toBeUndefined();
  });

  test('finds itself in its folder, and nothing that it could put there or start again [E6]', async () => {
    const { output, failure } = await go.run(`entries, _ := os.ReadDir("/program")
for _, each := range entries {
	fmt.Print(each.Name(), " ")
}
_, err := os.Stat("/program/program")
fmt.Println(err)
for _, attempt := range []error{
	os.WriteFile("/program/other", nil, 0o700), os.Remove("/program/program"), os.Link("/program/program", "/program/other"),
	os.Chmod("/program/program", 0o700), os.Rename("/program", "/other"), syscall.Exec("/program/other", []string{"x"}, nil),
} {
	fmt.Print(attempt != nil, " ")
}`);
    expect(failure).toBeUndefined();
    // Its name is gone once it runs; where the host was slower than the program, it is the only one.
    expect(output).toMatch(
      /^(program <nil>|stat \/program\/program: no such file or directory)\ntrue true true true true true $/,
    );
  });

  test('gains nothing by executing itself again [E6]', async () => {
    const { failure } = await go.run(
      'return syscall.Exec("/bin/program", []string{"x", "/bin/program"}, os.Environ())',
      {
        limits: { timeoutMs: 2_000 },
      },
    );
    expect(failure).toMatchObject({ kind: expect.stringMatching(/^(limit|exception|worker_lost)$/) });
    expect((await go.run('fmt.Println("next")')).output).toBe('next\n');
  });

  test('cannot bring files of the compiler into itself', async () => {
    const { output, failure } = await go.run('//go:embed program.go\nvar x string\nfmt.Println(len(x))');
    expect({ output, failure }).toEqual({ output: '0\n', failure: undefined });
  });
});

test('a compiled program that was changed on disk is compiled again, not run', {
  ...needs('go'),
  timeout: 600_000,
}, async () => {
  const cacheFolder = await filledCacheFolder(GO_ROOTS[0] ?? '');
  await using go = await openGo(GO_ROOTS[0] ?? '', { cacheFolder });
  expect((await go.run('fmt.Println("honest")')).output).toBe('honest\n');
  const programs = join(cacheFolder, 'programs');
  const [name = ''] = readdirSync(programs);
  // A file of the same name: the old one may still be running.
  rmSync(join(programs, name));
  writeFileSync(join(programs, name), '#!/bin/sh\necho evil\n', { mode: 0o755 });
  const again = await go.run('fmt.Println("honest")');
  expect(again).toMatchObject({ output: 'honest\n', isCached: false });
  rmSync(cacheFolder, { recursive: true, force: true });
});
