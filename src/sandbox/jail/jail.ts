import type { IsolationLevel } from '../../domain/isolation.js';

/** A Node program to be started behind walls, and all it may see. */
export interface JailedProgram {
  readonly runtime: 'quickjs' | 'transpiler' | 'escape';
  readonly nodePath: string;
  readonly nodeArguments: readonly string[];
  readonly files: readonly { readonly from: string; readonly to: string }[];
  readonly limits: { readonly dataBytes: number; readonly cpuSeconds: number | undefined; readonly processes: number; readonly fileBytes: number };
}
export interface Spawn {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly descriptors: readonly { readonly fd: number; readonly content: Uint8Array }[];
}
export interface Jail {
  readonly level: IsolationLevel;
  readonly description: string;
  spawn(program: JailedProgram): Spawn;
}
