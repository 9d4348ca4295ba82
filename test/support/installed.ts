import { type ExecFileSyncOptionsWithStringEncoding, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ended, endOf } from './command.js';
import { nodeRelease } from './node-releases.js';
import { registryEnvironment } from './registry.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Whom everything is installed and run as. Nobody on this machine, if the tests are run by root. */
const UID = 12_345;
const isRoot = process.getuid?.() === 0;
const QUIET: ExecFileSyncOptionsWithStringEncoding = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] };

/** An empty home of somebody who is not root, and what they do in it. */
export class NewUser implements Disposable {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), 'codemode-install-')));
  readonly #npm = realpathSync(execFileSync('which', ['npm'], QUIET).trim());
  readonly #registry = execFileSync('npm', ['config', 'get', 'registry'], QUIET).trim();

  constructor() {
    chmodSync(this.home, 0o755);
    if (isRoot) chownSync(this.home, UID, UID);
  }

  /** A folder of the user's own. */
  folder(...parts: string[]): string {
    const path = join(this.home, ...parts);
    mkdirSync(path, { recursive: true });
    if (isRoot) chownSync(path, UID, UID);
    return path;
  }

  /** The newest Node of a major version, where this user may start it: this one if it is of that version, else from npm. */
  node(major: number): string {
    const file = join(this.folder(`node-${major}`), 'node');
    if (!existsSync(file)) copyFileSync(nodeRelease(String(major)), file);
    return file;
  }

  /** Runs `npm` or `npx` on this Node. */
  npm(node: string, program: 'npm' | 'npx', words: readonly string[], options: UseOptions = {}): Promise<Ended> {
    const line = this.commandLine(node, [node, join(dirname(this.#npm), `${program}-cli.js`), ...words], options);
    return this.spawned({ ...line, env: { ...line.env, ...registryEnvironment() } }, options);
  }

  /** Runs a program to its end, with this Node first in PATH. */
  run(node: string, words: readonly string[], options: UseOptions = {}): Promise<Ended> {
    return this.spawned(this.commandLine(node, [node, ...words], options), options);
  }

  /** Runs what `commandLine` gives to its end. */
  spawned({ command, args, env }: ReturnType<NewUser['commandLine']>, options: UseOptions = {}): Promise<Ended> {
    const child = spawn(command, args, { cwd: options.cwd ?? this.home, env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.on('error', () => {}); // it may end without reading
    child.stdin.end(options.input ?? '');
    return endOf(child);
  }

  /** The same as what to spawn: as the user, and without bubblewrap where that is asked for. */
  commandLine(node: string, words: readonly string[], { hides = [] }: UseOptions = {}) {
    const asUser = isRoot ? ['setpriv', '--reuid', `${UID}`, '--regid', `${UID}`, '--clear-groups'] : [];
    const [command = '', ...args] = [...(hides.length > 0 ? this.#hiding(hides) : []), ...asUser, ...words];
    const env = {
      PATH: `${dirname(node)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: this.home,
      npm_config_registry: this.#registry,
      npm_config_cache: join(this.home, 'npm-cache'),
      npm_config_update_notifier: 'false',
      npm_config_prefer_offline: 'true',
    };
    return { command, args, env };
  }

  /** In a mount namespace where these are deleted from /usr/bin: what builds the jail is not searched in PATH. */
  #hiding(names: readonly string[]): string[] {
    const [upper, work] = [mkdtempSync(join(this.home, 'upper-')), mkdtempSync(join(this.home, 'work-'))];
    chmodSync(upper, 0o755);
    const mount = `mount -t overlay overlay -o lowerdir=/usr/bin,upperdir=${upper},workdir=${work} /usr/bin`;
    const remove = names.map((name) => `rm -f /usr/bin/${name}`).join(' && ');
    return ['unshare', '--mount', 'sh', '-c', `${mount} && ${remove} && exec "$@"`, 'sh'];
  }

  [Symbol.dispose](): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

export interface UseOptions {
  readonly cwd?: string;
  readonly input?: string;
  /** Programs of /usr/bin that are not there. */
  readonly hides?: readonly string[];
}

/** Why programs of /usr/bin cannot be hidden here; undefined where they can be. */
export function whyNotHidden(): string | undefined {
  if (!isRoot) return 'hiding bubblewrap from a program needs root';
  using user = new NewUser();
  const { command, args, env } = user.commandLine(process.execPath, ['test', '!', '-e', '/usr/bin/bwrap'], HIDDEN);
  const { status, stderr } = spawnSync(command, args, { env, encoding: 'utf8' });
  return status === 0 ? undefined : `hiding bubblewrap from a program needs overlay mounts (${stderr.trim()})`;
}

const HIDDEN = { hides: ['bwrap'] };

/** The tarball that `npm publish` would send. */
export function pack(into: string): string {
  const words = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', into];
  const [{ filename }] = JSON.parse(execFileSync('npm', words, { ...QUIET, cwd: ROOT }));
  const file = join(into, filename);
  chmodSync(file, 0o644);
  return file;
}

/** Every package under a `node_modules` folder, by its name. */
export function packagesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.name === 'package.json' && isPackage(entry.parentPath))
    .map((entry) => entry.parentPath.slice(entry.parentPath.lastIndexOf('node_modules/') + 'node_modules/'.length))
    .sort();
}

function isPackage(folder: string): boolean {
  return /\/node_modules\/(@[^/]+\/)?[^/]+$/.test(folder);
}
