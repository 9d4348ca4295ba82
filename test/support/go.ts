import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const RUNTIME = fileURLToPath(new URL('../../src/worker/go', import.meta.url));
/** Where Debian and Go's own installer put toolchains; the one on the PATH is asked where it is. */
const USUAL_ROOTS = ['/usr/lib/go-1.19', '/usr/local/go'];
const CACHE = join(tmpdir(), 'codemode-test-go-cache');
/** Where hosts keep compiled packages. Kept between runs of the tests: compiling the standard library takes up to a minute. */
export const SHARED_CACHE = join(tmpdir(), 'codemode-test-go');
/** Otherwise each host of profile go compiles all packages that there are, for as long as its test lasts. */
export const SHARED_GO = { go: { cacheFolder: SHARED_CACHE, precompile: 'common' } };

/** Every Go that is installed here: the oldest and the newest supported one, where both are. */
export const GO_ROOTS: readonly string[] = USUAL_ROOTS.filter((root) => existsSync(join(root, 'bin/go')));

/** The names of files that gofmt would change. */
export async function unformatted(text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-gofmt-'));
  const file = join(folder, 'file.go');
  await writeFile(file, text);
  const { stdout } = await run(await goTool('gofmt'), ['-d', file], { maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

/** Compiles files together with the worker's package, by the ordinary way; gives the compiler's complaints. */
export async function goBuild(root: string, files: Readonly<Record<string, string>>): Promise<string> {
  return (await build(root, files)).complaints;
}

/** The same for a program that is to be run: where it is. */
export async function goProgram(root: string, main: string): Promise<string> {
  const { complaints, program } = await build(root, { 'main.go': main });
  if (complaints !== '') throw new Error(complaints);
  return program;
}

async function build(root: string, files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-go-'));
  const module = `module prog\n\ngo 1.19\n\nrequire codemode v0.0.0\n\nreplace codemode => ${RUNTIME}\n`;
  for (const [name, text] of Object.entries({ 'go.mod': module, ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const program = join(folder, 'program');
  return { program, complaints: await goCommand(root, ['build', '-o', program, '.'], folder) };
}

/** Runs the go command; gives what it complains of, or nothing. */
export async function goCommand(
  root: string,
  args: readonly string[],
  cwd: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    GOROOT: root,
    GOTOOLCHAIN: 'local',
    GOPROXY: 'off',
    GOFLAGS: '-mod=mod',
    GOCACHE: CACHE,
    GOPATH: CACHE,
    CGO_ENABLED: '0',
    GOWORK: 'off',
    ...more,
  };
  try {
    await run(join(root, 'bin/go'), [...args], { cwd, env, maxBuffer: 64 * 1024 * 1024 });
    return '';
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return `${stdout}${stderr}` || String(error);
  }
}

async function goTool(name: string): Promise<string> {
  const [root] = GO_ROOTS;
  return root === undefined ? name : join(root, 'bin', name);
}
