import type { IsolationLevel } from '../../domain/isolation.js';
import type { JailRuntime } from './seccomp-lists.js';

/** A way to start a worker cut off from the machine. Get one from `openJail`, which has seen it hold. */
export interface Jail {
  readonly level: IsolationLevel;
  /** One sentence for the start-up log. */
  readonly description: string;
  /** What this level lacks here and now, one sentence each; empty when it is all it can be. */
  readonly gaps: readonly string[];
  /**
   * Describes the process that runs `program` in the jail. Nothing is started. Each call picks a new uid where the host
   * can, so call it once per process. The first call for a file may link or copy it to where that uid can read it.
   */
  spawn(program: JailedProgram): Spawn;
}

export interface JailedProgram {
  /** Picks the list of system calls, and where the interpreter lies inside. */
  readonly runtime: JailRuntime;
  readonly interpreterPath: string;
  /** Paths in it are those inside the jail: the `to` of a file. */
  readonly interpreterArguments: readonly string[];
  /** The only other files that exist inside, read-only. `to` is absolute; shared libraries of addons come by themselves. */
  readonly files: readonly JailedFile[];
  /** Whole folders, read-only: a standard library. */
  readonly folders?: readonly JailedFolder[];
  /** The one place where the program may write, and where it starts; nobody else ever sees it. Absent: there is none. */
  readonly workspace?: JailedWorkspace;
  /** In addition to what every jail sets. Names and values of our own, without blanks. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly limits: JailLimits;
}

export interface JailedFolder extends JailedFile {
  /** Folders directly below it that are empty inside, where they exist: packages that a user has installed. */
  readonly hidden: readonly string[];
  /** Shared objects below it that the interpreter may load: what they link to comes along. */
  readonly addons: readonly string[];
}

/** A file system in memory at `WORKSPACE`, with a folder for temporary files that is also /tmp. */
export interface JailedWorkspace {
  readonly bytes: number;
  /** Kept by level `namespaces`; bwrap has no option for it, so at `strict` it is watched from outside. */
  readonly files: number;
}

export interface JailedFile {
  readonly from: string;
  readonly to: string;
}

export interface JailLimits {
  /**
   * RLIMIT_DATA: heap, WebAssembly memories and thread stacks together; Node alone takes 48 MB. The room that newer V8s
   * set aside for machine code is added by the jail.
   */
  readonly dataBytes: number;
  /**
   * RLIMIT_STACK, of the main thread: it grows as it is used, and RLIMIT_DATA does not see it. Node sets aside as much
   * for some threads of its own, which RLIMIT_DATA does see: the jail adds it. Undefined: as the host has it.
   */
  readonly stackBytes?: number;
  /** RLIMIT_CPU over the whole life of the process; it ends by SIGKILL. */
  readonly cpuSeconds: number | undefined;
  /** Threads and processes at the same time; never less than `MINIMUM_PROCESSES`. */
  readonly processes: number;
  /** RLIMIT_FSIZE. 0 where there is nothing to write to. */
  readonly fileBytes: number;
  /** RLIMIT_NOFILE. Absent: what a worker of ours needs. */
  readonly descriptors?: number;
}

/**
 * A process to start: see `launch`. Descriptor 3 is the channel; `descriptors` are read by the jail before the worker
 * starts and are closed to it.
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
  /** Below `MAX_DESCRIPTOR_BYTES`, so that writing it into a fresh pipe never waits. */
  readonly content: Uint8Array;
}

/** A pipe holds at least one page on every kernel. */
export const MAX_DESCRIPTOR_BYTES = 4096;

/** The descriptor on which worker and host talk. */
export const CHANNEL_FD = 3;

/** Where programs of real interpreters are at home. */
export const WORKSPACE = '/workspace';

/**
 * Node creates ten threads and hangs forever, silently, when it cannot create one of them: a limit below this
 * would look like a worker that never says hello.
 */
export const MINIMUM_PROCESSES = 16;

/** What `codemode doctor` shows. */
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
  /** Why it does not work, and the commands or text that make it work. */
  readonly reason?: string;
  readonly fix?: string;
}
