import type { JsonObject, JsonValue } from '../json.js';
import type { SourceLanguage } from '../run.js';

/** How a person wants to keep a run as a script. */
export interface KeepRequest {
  readonly name: string;
  readonly description: string;
  /** Values in the program that become properties of its input. */
  readonly inputs: readonly KeptInput[];
}

export interface KeptInput {
  readonly name: string;
  readonly value: string | number;
}

/** The script that would be stored. */
export interface KeepPreview {
  readonly source: string;
  readonly language: SourceLanguage;
  /** How a program calls it. */
  readonly functionName: string;
  readonly inputs: readonly (KeptInput & { readonly lines: readonly number[] })[];
  /** Values that were sent to tools, and could become inputs too. */
  readonly proposed: readonly (KeptInput & { readonly line: number })[];
  /** `server/tool`. If one of these tools changes, the script asks for approval before it runs. */
  readonly tools: readonly string[];
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  /** The current version of the program that already has this name. Keeping creates the next version. */
  readonly takenVersion?: number;
}

export interface KeptProgram {
  readonly name: string;
  readonly version: number;
  readonly functionName: string;
}

/** One program in the list. */
export interface ScriptItem extends KeptProgram {
  readonly description: string;
  readonly profile: string;
  readonly createdAtMs: number;
  /** The caller whose program kept it; absent if a person did. */
  readonly savedBy?: string;
}

export interface ScriptDetail extends ScriptItem {
  readonly source: string;
  readonly language: SourceLanguage;
  readonly inputSchema?: JsonValue;
  readonly outputSchema?: JsonValue;
  readonly tools: readonly string[];
  readonly fromRun?: string;
}

/** One call of a run, and whether it can be undone. */
export interface UndoStepView {
  readonly call: number;
  readonly tool: string;
  readonly state: 'ready' | 'undone' | 'nothing' | 'impossible';
  readonly why: string;
  /** The call that would be sent. */
  readonly inverse?: { readonly tool: string; readonly arguments: JsonValue };
}

/** Last call first. */
export interface UndoPlan {
  readonly steps: readonly UndoStepView[];
}

export interface UndoAnswer extends UndoPlan {
  readonly done: readonly {
    readonly call: number;
    readonly outcome: 'undone' | 'waits' | 'refused' | 'failed' | 'unknown';
    readonly message?: string;
  }[];
}
