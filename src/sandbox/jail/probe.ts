import { randomInt } from 'node:crypto';
import { HostError } from '../../domain/errors.js';
import { ISOLATION_LEVELS, type IsolationLevel } from '../../domain/isolation.js';
import { adviceFor, kernelFeatures } from './advice.js';
import { bubblewrapSpawn, type ProcessLimit } from './bubblewrap.js';
import type { Jail, JailedProgram, JailLimits, JailReport, LevelReport } from './jail.js';
import { isElf, readLinkage } from './libraries.js';
import { type Machine, readMachine, type ToolName } from './machine.js';
import { plainSpawn } from './none.js';
import { compileFilter } from './seccomp.js';
import { syscallPolicy } from './seccomp-lists.js';
import { selfTestSpawn, testJail } from './self-test.js';
import { Staging } from './staging.js';
import { digestOfJail, TestedJails } from './tested-jails.js';
import { unshareSpawn } from './unshare.js';
import { type FileReader, viewOf } from './view.js';

export interface JailOptions {
  /** Unset: the better of `strict` and `namespaces` that passes its self-test here. */
  readonly isolation?: IsolationLevel | undefined;
  /** The second setting that `none` requires. */
  readonly unsafelyAllowNoJail?: boolean | undefined;
  /** The folder that records which jails passed their self-test; absent: each is tested. */
  readonly testedFolder?: string | undefined;
  /** The folder in which a host that runs as root puts files that workers could not read otherwise. */
  readonly stagingFolder?: string | undefined;
}

/**
 * The best jail of this machine, tested by an attempt to escape from it. Never a weaker one than requested: throws
 * `jail_unavailable`, with the fix.
 */
export async function openJail(options: JailOptions = {}): Promise<Jail> {
  if (options.isolation === 'none' && options.unsafelyAllowNoJail !== true) {
    throw new HostError(
      'jail_unavailable',
      'isolation "none" runs agents\' programs without a jail and needs a second key: set ' +
        'sandbox.unsafelyAllowNoJail: true in the configuration file, or ask for "strict"',
    );
  }
  const machine = readMachine();
  const levels = options.isolation === undefined ? (['strict', 'namespaces'] as const) : [options.isolation];
  const failures: string[] = [];
  for (const level of levels) {
    const tried = await tryLevel(level, machine, options);
    if (tried.jail !== undefined) return withBetterLevel(tried.jail, failures);
    failures.push(`isolation "${level}" is unavailable on this machine: ${tried.reason}\n${tried.fix}`);
  }
  throw new HostError('jail_unavailable', failures.join('\n'));
}

/** Tries every level, for `codemode doctor`. */
export async function inspectJail(options: Pick<JailOptions, 'stagingFolder'> = {}): Promise<JailReport> {
  const machine = readMachine();
  const levels: LevelReport[] = [];
  for (const level of ISOLATION_LEVELS) {
    const { jail, reason, fix } = await tryLevel(level, machine, options);
    const description = DESCRIPTIONS[level];
    levels.push(
      jail === undefined
        ? { level, works: false, description, gaps: [], reason, fix }
        : { level, works: true, description, gaps: jail.gaps },
    );
  }
  return { kernel: machine.kernel, architecture: process.arch, features: kernelFeatures(machine), levels };
}

const DESCRIPTIONS: Record<IsolationLevel, string> = {
  strict: 'bubblewrap: all namespaces, no capabilities, a system call allow-list, resource limits',
  namespaces: 'util-linux unshare: all namespaces, no capabilities, resource limits; no system call filter',
  none: 'no jail: an ordinary process with resource limits',
};

type Tried =
  | { readonly jail: Jail; readonly reason?: undefined; readonly fix?: undefined }
  | { readonly jail: undefined; readonly reason: string; readonly fix: string };

async function tryLevel(
  level: IsolationLevel,
  machine: Machine,
  { stagingFolder, testedFolder }: Pick<JailOptions, 'stagingFolder' | 'testedFolder'>,
): Promise<Tried> {
  try {
    const jail = buildJail(level, machine, stagingFolder);
    const reason = level === 'none' ? undefined : await testUnlessKnown(jail, testedFolder);
    if (reason === undefined) return { jail };
    return { jail: undefined, reason, fix: adviceFor(level, machine, reason) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { jail: undefined, reason, fix: adviceFor(level, machine, reason) };
  }
}

/** The test takes a process of its own, and a jail that passed stays good until one of its parts changes. */
async function testUnlessKnown(jail: Jail, testedFolder: string | undefined): Promise<string | undefined> {
  if (testedFolder === undefined) return testJail(jail, process.execPath);
  const tested = new TestedJails(testedFolder);
  const digest = digestOfJail(selfTestSpawn(jail, process.execPath));
  if (tested.has(digest)) return undefined;
  const reason = await testJail(jail, process.execPath);
  if (reason === undefined) tested.add(digest);
  return reason;
}

function buildJail(level: IsolationLevel, machine: Machine, stagingFolder: string | undefined): Jail {
  const description = DESCRIPTIONS[level];
  if (level === 'none') {
    return { level, description, gaps: [NO_JAIL], spawn: (program) => plainSpawn(program, machine) };
  }
  if (!machine.isLinux) throw new Error(`${process.platform} has no Linux namespaces`);
  const reader = fileReader(machine, stagingFolder);
  const nextUid = uidSource(machine);
  const { hardLimits } = machine;
  const limitsOf = ({ limits }: JailedProgram): JailLimits => ({
    ...limits,
    dataBytes: limits.dataBytes + machine.codeReserveBytes,
  });
  if (level === 'namespaces') {
    const tools = needTools(machine, UNSHARE_TOOLS);
    const setsProcessLimit = machine.workerUids !== undefined || machine.countsProcessesPerNamespace;
    const spawn = (program: JailedProgram) =>
      unshareSpawn(viewOf(program, reader), {
        tools,
        hardLimits,
        reader,
        setsProcessLimit,
        limits: limitsOf(program),
        uid: nextUid(),
      });
    return { level, description, spawn, gaps: [NO_FILTER, ...uidGaps(machine, setsProcessLimit)] };
  }
  const { architecture } = machine;
  if (architecture === undefined) throw new Error(`there is no system call list for ${process.arch}`);
  const tools = needTools(machine, ['setpriv', 'prlimit', 'bwrap']);
  const processLimit = placeOfProcessLimit(machine, reader);
  const spawn = (program: JailedProgram) =>
    bubblewrapSpawn(viewOf(program, reader), {
      tools,
      hardLimits,
      processLimit,
      limits: limitsOf(program),
      uid: nextUid(),
      filter: compileFilter(syscallPolicy(program.runtime), architecture),
    });
  return { level, description, spawn, gaps: uidGaps(machine, processLimit.place !== 'nowhere') };
}

const UNSHARE_TOOLS = [
  'setpriv',
  'prlimit',
  'unshare',
  'sh',
  'umount',
  'mount',
  'mkdir',
  'ln',
  'rm',
  'pivot_root',
  'hostname',
] as const;

const NO_JAIL = 'programs can reach every file, process and network that this user can';
const NO_FILTER =
  'the whole system call surface of the kernel, its keyrings included, is open to code that escapes the engine';

/** A jail of a lesser level lists what the better level lacked, for the start-up log. */
function withBetterLevel(jail: Jail, failures: readonly string[]): Jail {
  return { ...jail, gaps: [...jail.gaps, ...failures] };
}

function uidGaps(machine: Machine, limitsProcesses: boolean): string[] {
  return [
    ...(machine.isRoot && machine.workerUids === undefined
      ? ['the host is root of a user namespace without other uids: workers share its uid']
      : []),
    ...(limitsProcesses
      ? []
      : [
          `Linux ${machine.kernel} counts processes per user only: a worker's threads are not limited (from 5.14 they are)`,
        ]),
  ];
}

function placeOfProcessLimit(machine: Machine, reader: FileReader): ProcessLimit {
  if (machine.workerUids !== undefined) return { place: 'outside' };
  return machine.countsProcessesPerNamespace ? { place: 'inside', reader } : { place: 'nowhere' };
}

function needTools<Name extends ToolName>(machine: Machine, names: readonly Name[]): Record<Name, string> {
  const missing = names.filter((name) => machine.tools[name] === undefined);
  if (missing.length > 0) throw new Error(`not installed: ${missing.join(', ')}`);
  return Object.fromEntries(names.map((name) => [name, machine.tools[name]])) as Record<Name, string>;
}

/** A random start, then consecutive uids, so that two hosts of one machine hardly ever assign the same uid. */
function uidSource({ workerUids }: Machine): () => number | undefined {
  if (workerUids === undefined) return () => undefined;
  let next = randomInt(workerUids.count);
  return () => {
    next = (next + 1) % workerUids.count;
    return workerUids.first + next;
  };
}

/** Caches its results: a pool asks for the same few files for every worker. */
function fileReader(machine: Machine, stagingFolder: string | undefined): FileReader {
  const staging = machine.workerUids === undefined ? undefined : new Staging(stagingFolder);
  const readable = remember((path: string) => staging?.readable(path) ?? path);
  const linkage = remember(readLinkage);
  return { readable, linkage, isElf: remember(isElf) };
}

function remember<Value, Details extends unknown[]>(
  find: (path: string, ...details: Details) => Value,
): (path: string, ...details: Details) => Value {
  const known = new Map<string, Value>();
  return (path, ...details) => {
    const value = known.get(path) ?? find(path, ...details);
    known.set(path, value);
    return value;
  };
}
