// @ts-check
// `npm ci` refuses a lockfile that lacks an optional package, even one for another platform; and npm leaves such
// packages out when the registry in use does not carry them, or when node_modules is already there. This finds the
// gaps; with --write it fills them. npm also accepts an entry without a checksum, and only fetches it where it fits.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, ROOT } from './repository.mjs';

/** The product's, and those of folders that are installed when they are used. */
const LOCKFILES = ['package-lock.json', 'bench/peers/package-lock.json', 'test/mcp-suite/package-lock.json'];

/** The words that the names of platform packages are made of. */
const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const PROCESSORS = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

if (isMain(import.meta.url)) {
  for (const file of LOCKFILES) {
    const lock = JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
    const problems = findLockProblems(lock.packages);
    if (process.argv.includes('--write')) {
      const whole = { ...lock, packages: completePackages(lock.packages) };
      writeFileSync(join(ROOT, file), `${JSON.stringify(whole, null, 2)}\n`);
    } else if (problems.length > 0) {
      for (const problem of problems) console.error(`${file}: ${problem}`);
      console.error('npm ci would fail; type: npm run lockfile');
      process.exitCode = 1;
    }
  }
}

/**
 * @typedef {{ version?: string, dev?: boolean, optionalDependencies?: Record<string, string>, [key: string]: unknown }} LockedPackage
 * @typedef {Record<string, LockedPackage>} LockedPackages by place, such as `node_modules/a/node_modules/b`
 */

/** @param {LockedPackages} packages @returns {string[]} */
export function findLockProblems(packages) {
  return findGaps(packages).map(({ owner, name, version }) => `${owner}: optional ${name}@${version} is not locked`);
}

/**
 * The same packages with an entry for every optional one, in npm's order.
 *
 * @param {LockedPackages} packages @returns {LockedPackages}
 */
export function completePackages(packages) {
  const entries = new Map(Object.entries(packages));
  for (const { owner, name, version } of findGaps(packages)) {
    const place = entries.has(`node_modules/${name}`) ? `${owner}/node_modules/${name}` : `node_modules/${name}`;
    entries.set(place, { version, ...platformOf(name), ...pick(packages[owner], ['dev']), optional: true });
  }
  return Object.fromEntries([...entries].sort(([a], [b]) => a.localeCompare(b, 'en')));
}

function findGaps(packages) {
  return Object.entries(packages).flatMap(([owner, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name, version]) => !isLocked(packages, owner, name, version))
      .map(([name, version]) => ({ owner, name, version })),
  );
}

/** Looks where Node would: in the owner's own node_modules, then in that of each folder above. */
function isLocked(packages, owner, name, version) {
  for (let place = owner; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')))) {
    const found = packages[`${place === '' ? '' : `${place}/`}node_modules/${name}`];
    if (found !== undefined) return !isExact(version) || found.version === version;
    if (place === '') return false;
  }
}

/** @param {string} name such as `@scope/binding-linux-arm-musleabihf` */
function platformOf(name) {
  const words = name.slice(name.lastIndexOf('/') + 1).split('-');
  const cpu = words.filter((word) => PROCESSORS.includes(word));
  const os = words.filter((word) => SYSTEMS.includes(word));
  const libc = words.some((word) => word.startsWith('musl'))
    ? 'musl'
    : words.some((w) => w.startsWith('gnu')) && 'glibc';
  if (cpu.length === 0) throw new Error(`${name} does not say its platform: lock it with a registry that carries it`);
  return { cpu, ...(libc && { libc: [libc] }), ...(os.length > 0 && { os }) };
}

function isExact(version) {
  return /^\d/.test(version);
}

function pick(source, keys) {
  return Object.fromEntries(keys.filter((key) => source?.[key] !== undefined).map((key) => [key, source[key]]));
}
