import type { Command } from 'commander';
import type { Composed, HostSettings } from './composed.js';

/** What every command is given: a way to the program behind it, and a place for its exit status. */
export interface CommandContext {
  /** The options that stand before the command: `--config`, `--isolation`. */
  settings(): HostSettings;
  /** Puts the program together as those options say. Whoever calls it closes the host. */
  compose(): Promise<Composed>;
  exitWith(status: number): void;
}

/** Adds one command, with its options and its help, to the program. Each file of `commands/` exports one. */
export type Register = (program: Command, context: CommandContext) => void;

export const EXIT = { ok: 0, failed: 1, badInput: 2 } as const;
