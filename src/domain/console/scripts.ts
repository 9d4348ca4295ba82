import type { JsonObject, JsonValue } from '../json.js';
import type { SourceLanguage } from '../run.js';

/** What a person wants to make of a run. */
export interface KeepRequest {
  readonly name: string;
  readonly description: string;
  /** Values of the program that become properties of its input. */
  readonly inputs: readonly KeptInput[];
}

export interface KeptInput {
  readonly name: string;
  readonly value: string | number;
}

/** What would be stored. */
export interface KeepPreview {
  readonly source: string;
  readonly language: SourceLanguage;
  /** How a program calls it. */
  readonly functionName: string;
  readonly inputs: readonly (KeptInput & { readonly lines: readonly number[] })[];
  /** Values that were sent to tools, and may be inputs too. */
  readonly proposed: readonly (KeptInput & { readonly line: number })[];
  /** `server/tool`: if one of them changes, the program asks before it runs. */
  readonly tools: readonly string[];
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  /** A program has this name already; keeping makes the version after this one. */
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
  /** The caller whose program kept it; absent where a person did. */
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
  /** What would be sent. */
  readonly inverse?: { readonly tool: string; readonly arguments: JsonValue };
}

/** The last call first. */
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
