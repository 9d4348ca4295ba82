import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JailedFolder } from '../jail/jail.js';
import { isReadableByEveryone } from '../jail/staging.js';
import { askInterpreter } from '../processes/ask-interpreter.js';

/** A Go toolchain on this machine. */
export interface GoToolchain {
  /** The `go` command. */
  readonly path: string;
  readonly root: string;
  /** `go1.26.0`: packages compiled by one version are useless to another. */
  readonly version: string;
  /** The folder of `compile` and `link`. */
  readonly tools: string;
  /** The folders that a jail needs, under their own paths: distributions link from one to another. */
  readonly folders: readonly JailedFolder[];
}

/** Why no toolchain was found, and the one command to type. */
export interface MissingGo {
  readonly reason: string;
  readonly fix: string;
}

export interface GoSearch {
  /** The `go` that the configuration names. If set, nothing else is tried. */
  readonly configuredPath?: string | undefined;
  /** Folders to search, in the format of PATH. */
  readonly searchPath: string;
}

const OLDEST = 19;
const FIX = `Install Go 1.${OLDEST} or newer for all users (Debian, Ubuntu: apt-get install -y golang-go).`;
/** Locations used by installers that do not change PATH. */
const USUAL_PLACES = ['/usr/local/go/bin', '/usr/lib/go/bin'];
const MAX_CANDIDATES = 8;

/**
 * Nothing is ever fetched: no module, and no other toolchain, whatever a nearby go.mod asks for. The user's own settings are not
 * read.
 */
export const GO_ENVIRONMENT = {
  GOTOOLCHAIN: 'local',
  GOPROXY: 'off',
  GOENV: 'off',
  GOFLAGS: '-buildvcs=false',
  GOTELEMETRY: 'off',
  CGO_ENABLED: '0',
} as const;

/** The first Go on the PATH that is new enough and whose files can be mounted into a jail. */
export async function findGo(search: GoSearch): Promise<GoToolchain | MissingGo> {
  const folders = [...search.searchPath.split(':').filter((folder) => folder.startsWith('/')), ...USUAL_PLACES];
  const found = [...new Set(folders.map((folder) => join(folder, 'go')))].filter((path) => existsSync(path));
  const candidates = search.configuredPath === undefined ? found.slice(0, MAX_CANDIDATES) : [search.configuredPath];
  const reasons = new Set<string>();
  for (const candidate of candidates) {
    const inspected = await inspect(candidate);
    if (typeof inspected !== 'string') return inspected;
    reasons.add(inspected);
  }
  return { reason: reasons.size === 0 ? 'go is not on the PATH' : [...reasons].join('; '), fix: FIX };
}

async function inspect(candidate: string): Promise<GoToolchain | string> {
  const env = { ...GO_ENVIRONMENT, HOME: '/nonexistent', GOFLAGS: '' };
  const answer = await askInterpreter(candidate, ['env', 'GOROOT', 'GOVERSION', 'GOTOOLDIR'], env);
  const [root, version, tools] = answer?.split('\n') ?? [];
  if (root === undefined || version === undefined || tools === undefined) return `${candidate} is not a working Go`;
  const minor = Number(/^go1\.(\d+)/.exec(version)?.[1] ?? Number.NaN);
  if (!(minor >= OLDEST)) return `${candidate} is ${version}: too old`;
  const parts = [root, join(root, 'src'), join(root, 'pkg/include')].filter((path) => existsSync(path));
  // The sources of Debian's Go are in another folder, which it links to.
  const places = [...new Set([root, ...parts.map((part) => realpathSync(part)).map(topOf(root))])];
  if (process.getuid?.() === 0 && !places.every(isReadableByEveryone))
    return `${candidate} is in a folder that only root can read (${root}), and programs are not compiled as root`;
  const folders = places.map((place): JailedFolder => ({ from: place, to: place, hidden: [], addons: [] }));
  return { path: join(root, 'bin/go'), root, version, tools, folders };
}

/** The folder that a part belongs to: the root, or the folder elsewhere that holds it. */
const topOf =
  (root: string) =>
  (part: string): string => {
    if (part === root || part.startsWith(`${root}/`)) return root;
    return part.endsWith('/pkg/include') ? dirname(dirname(part)) : dirname(part);
  };
