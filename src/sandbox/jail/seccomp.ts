import { SYSCALL_NUMBERS, type SyscallName } from './syscall-numbers.js';

/**
 * Compiles a list of system calls into the BPF program that `bwrap --seccomp FD` installs right before it starts the worker. Pure:
 * the same policy and architecture give the same bytes.
 *
 * One layer of several: the namespaces have already removed files, network and processes. The filter is there for an attacker who
 * runs machine code in a worker and attacks the kernel itself.
 */
export function compileFilter(policy: SyscallPolicy, architecture: FilterArchitecture): Uint8Array {
  const program = new Assembler();
  const { auditArchitecture, column, hasX32 } = ARCHITECTURES[architecture];
  const number = (name: SyscallName): number | undefined => SYSCALL_NUMBERS[name][column];

  // A process can enter the kernel through the tables of another architecture, where the same numbers mean other calls.
  program.loadField(FIELD_ARCHITECTURE);
  program.unlessEqual(auditArchitecture, 'kill');
  program.loadField(FIELD_NUMBER);
  // x32 is a second table under the same architecture word, distinguished by this bit alone.
  if (hasX32) program.ifAtLeast(X32_BIT, 'kill');

  // In this order because the calls of a running worker (futex, read, write) should be decided first.
  for (const name of policy.allow) program.ifEqual(number(name), 'allow');
  for (const rule of policy.guarded) program.guard(number(rule.call), rule);
  for (const [name, errno] of policy.refuse) program.ifEqual(number(name), { errno });
  for (const name of policy.kill) program.ifEqual(number(name), 'kill');
  program.return(policy.otherwise);
  return program.bytes();
}

export type FilterArchitecture = 'x64' | 'arm64';

/** The kernel's reaction to a call: perform it, kill the whole process, or return this error number. */
export type SyscallAction = 'allow' | 'kill' | { readonly errno: number };

/**
 * True when `(argument & mask) === equals`. It tests the low 32 bits only. That suits arguments that the kernel itself truncates
 * to 32 bits (flags of clone and openat, options of prctl, commands of ioctl and fcntl), never a pointer.
 */
export interface ArgumentTest {
  readonly argument: 0 | 1 | 2 | 3 | 4 | 5;
  readonly mask?: number;
  readonly equals: number;
}

/** A call that is allowed if all tests of any one row hold, and otherwise gets `otherwise`. */
export interface GuardedCall {
  readonly call: SyscallName;
  readonly anyOf: readonly (readonly ArgumentTest[])[];
  readonly otherwise: SyscallAction;
}

export interface SyscallPolicy {
  readonly allow: readonly SyscallName[];
  readonly guarded: readonly GuardedCall[];
  /** Calls that are refused with a more fitting error than the default. */
  readonly refuse: readonly (readonly [call: SyscallName, errno: number])[];
  /** Calls that no honest worker makes: making one proves an attack. */
  readonly kill: readonly SyscallName[];
  readonly otherwise: SyscallAction;
}

const ARCHITECTURES = {
  x64: { auditArchitecture: 0xc000003e, column: 0, hasX32: true },
  arm64: { auditArchitecture: 0xc00000b7, column: 1, hasX32: false },
} as const;

const X32_BIT = 0x40000000;

// struct seccomp_data { int nr; u32 arch; u64 instruction_pointer; u64 args[6]; }, little endian on both architectures.
const FIELD_NUMBER = 0;
const FIELD_ARCHITECTURE = 4;
const FIELD_ARGUMENTS = 16;

const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const RETURN = 0x06;

const RETURN_ALLOW = 0x7fff0000;
const RETURN_ERRNO = 0x00050000;
const RETURN_KILL_PROCESS = 0x80000000;

/** The kernel's own limit, BPF_MAXINSNS. */
const MAX_INSTRUCTIONS = 4096;
const BYTES_PER_INSTRUCTION = 8;

interface Instruction {
  readonly code: number;
  readonly jumpTrue: number;
  readonly jumpFalse: number;
  readonly value: number;
}

class Assembler {
  readonly #instructions: Instruction[] = [];

  loadField(offset: number): void {
    this.#add(LOAD_WORD, offset);
  }

  return(verdict: SyscallAction): void {
    this.#add(RETURN, returnValue(verdict));
  }

  ifEqual(value: number | undefined, verdict: SyscallAction): void {
    if (value === undefined) return;
    this.#add(JUMP_EQUAL, value, 0, 1);
    this.return(verdict);
  }

  unlessEqual(value: number, verdict: SyscallAction): void {
    this.#add(JUMP_EQUAL, value, 1, 0);
    this.return(verdict);
  }

  ifAtLeast(value: number, verdict: SyscallAction): void {
    this.#add(JUMP_AT_LEAST, value, 0, 1);
    this.return(verdict);
  }

  /** Never falls through once the number matched, so a loaded argument cannot be mistaken for a call number later. */
  guard(number: number | undefined, rule: GuardedCall): void {
    if (number === undefined) return;
    const rows = rule.anyOf.map((row) => row.flatMap(testInstructions));
    const length = rows.reduce((sum, row) => sum + row.length + 1, 1);
    this.#add(JUMP_EQUAL, number, 0, length);
    for (const row of rows) {
      row.forEach((instruction, index) => {
        // A failed test skips the rest of its row and the row's return.
        const isTest = instruction.code === JUMP_EQUAL;
        this.#add(instruction.code, instruction.value, 0, isTest ? row.length - index : 0);
      });
      this.return('allow');
    }
    this.return(rule.otherwise);
  }

  bytes(): Uint8Array {
    if (this.#instructions.length > MAX_INSTRUCTIONS)
      throw new RangeError('the filter is longer than the kernel takes');
    const bytes = new Uint8Array(this.#instructions.length * BYTES_PER_INSTRUCTION);
    const view = new DataView(bytes.buffer);
    this.#instructions.forEach((instruction, index) => {
      const offset = index * BYTES_PER_INSTRUCTION;
      view.setUint16(offset, instruction.code, true);
      view.setUint8(offset + 2, instruction.jumpTrue);
      view.setUint8(offset + 3, instruction.jumpFalse);
      view.setUint32(offset + 4, instruction.value, true);
    });
    return bytes;
  }

  #add(code: number, value: number, jumpTrue = 0, jumpFalse = 0): void {
    // A jump offset is one byte: a longer one, silently truncated, would land on another rule's verdict.
    if (jumpTrue > 255 || jumpFalse > 255) throw new RangeError('a guarded call has too many rows for one jump');
    this.#instructions.push({ code, jumpTrue, jumpFalse, value: value >>> 0 });
  }
}

function testInstructions(test: ArgumentTest): Instruction[] {
  const load = { code: LOAD_WORD, jumpTrue: 0, jumpFalse: 0, value: FIELD_ARGUMENTS + 8 * test.argument };
  const compare = { code: JUMP_EQUAL, jumpTrue: 0, jumpFalse: 0, value: test.equals };
  if (test.mask === undefined) return [load, compare];
  return [load, { code: AND, jumpTrue: 0, jumpFalse: 0, value: test.mask }, compare];
}

function returnValue(verdict: SyscallAction): number {
  if (verdict === 'allow') return RETURN_ALLOW;
  if (verdict === 'kill') return RETURN_KILL_PROCESS;
  return RETURN_ERRNO | verdict.errno;
}
