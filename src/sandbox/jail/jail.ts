import type { IsolationLevel } from '../../domain/isolation.js';
import type { JailRuntime } from './seccomp-lists.js';

/** Starts workers that are isolated from the machine. `openJail` returns one that passed its self-test. */
export interface Jail {
  readonly level: IsolationLevel;
  /** One sentence for the start-up log. */
  readonly description: string;
  /** The protections that this level lacks on this machine, one sentence each; empty if none. */
  readonly gaps: readonly string[];
  /**
   * Describes the process that runs `program` in the jail. Nothing is started. Each call picks a new uid if the host can, so call
   * it once per process. The first call for a file may link or copy it to a folder that this uid can read.
   */
  spawn(program: JailedProgram): Spawn;
}

export interface JailedProgram {
  /** Selects the list of system calls, and the interpreter's path inside. */
  readonly runtime: JailRuntime;
  readonly interpreterPath: string;
  /** Paths in it are paths inside the jail: the `to` of a file. */
  readonly interpreterArguments: readonly string[];
  /** The only other files inside, read-only. `to` is absolute; shared libraries of addons are added automatically. */
  readonly files: readonly JailedFile[];
  /** Whole folders, read-only: a standard library. */
  readonly folders?: readonly JailedFolder[];
  /** The only writable folder and the program's working directory; no other program ever sees it. Absent: there is none. */
  readonly workspace?: JailedWorkspace;
  /** In addition to the variables of every jail. Names and values are our own and have no spaces. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly limits: JailLimits;
}

export interface JailedFolder extends JailedFile {
  /** Folders directly below it that appear empty inside, if they exist: packages that a user has installed. */
  readonly hidden: readonly string[];
  /** Shared objects below it that the interpreter may load. Their own libraries are added. */
  readonly addons: readonly string[];
}

/** An in-memory file system at `WORKSPACE`, with a folder for temporary files that is also /tmp. */
export interface JailedWorkspace {
  readonly bytes: number;
  /** Enforced by level `namespaces`. bwrap has no option for it, so at `strict` the host watches it from outside. */
  readonly files: number;
}

export interface JailedFile {
  readonly from: string;
  readonly to: string;
}

export interface JailLimits {
  /**
   * RLIMIT_DATA: heap, WebAssembly memories and thread stacks together; Node alone takes 48 MB. The jail adds the space that newer
   * V8 versions reserve for machine code.
   */
  readonly dataBytes: number;
  /**
   * RLIMIT_STACK of the main thread, which grows as it is used and is not part of RLIMIT_DATA. Node reserves as much for some of
   * its own threads, which RLIMIT_DATA does count, so the jail adds it. Undefined: the host's own limit.
   */
  readonly stackBytes?: number;
  /** RLIMIT_CPU over the whole life of the process, which is then killed by SIGKILL. */
  readonly cpuSeconds: number | undefined;
  /** Threads and processes at the same time; never less than `MINIMUM_PROCESSES`. */
  readonly processes: number;
  /** RLIMIT_FSIZE. 0 if nothing is writable. */
  readonly fileBytes: number;
  /** RLIMIT_NOFILE. Absent: the number that our workers need. */
  readonly descriptors?: number;
}

/**
 * A process to start: see `launch`. Descriptor 3 is the channel. The jail reads `descriptors` before the worker starts, and the
 * worker does not inherit them.
 */
export interface Spawn {
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment of the started process, not additions to ours. */
  readonly env: Readonly<Record<string, string>>;
  readonly descriptors: readonly SpawnDescriptor[];
}

export interface SpawnDescriptor {
  readonly fd: number;
  /** Smaller than `MAX_DESCRIPTOR_BYTES`, so that writing it into a fresh pipe never blocks. */
  readonly content: Uint8Array;
}

/** A pipe holds at least one page on every kernel. */
export const MAX_DESCRIPTOR_BYTES = 4096;

/** The descriptor of the channel between worker and host. */
export const CHANNEL_FD = 3;

/** The working directory of programs on real interpreters. */
export const WORKSPACE = '/workspace';

/**
 * Node creates ten threads, and hangs silently if it cannot create one of them. A limit below this would look like a worker that
 * never says hello.
 */
export const MINIMUM_PROCESSES = 16;

/** The report that `codemode doctor` shows. */
export interface JailReport {
  readonly kernel: string;
  readonly architecture: string;
  readonly features: readonly JailFeature[];
  /** Best level first, the order in which `openJail` tries them. */
  readonly levels: readonly LevelReport[];
}

export interface JailFeature {
  readonly name: string;
  readonly value: string;
}

export interface LevelReport {
  readonly level: IsolationLevel;
  readonly works: boolean;
  readonly description: string;
  readonly gaps: readonly string[];
  /** Why it does not work, and the commands or text that fix it. */
  readonly reason?: string;
  readonly fix?: string;
}
