import type { JsonObject } from '../json.js';
import type { ProfileName } from '../profile-name.js';
import type { RunState } from '../run.js';

export interface PlaygroundInfo {
  readonly profiles: readonly PlaygroundProfile[];
}

export interface PlaygroundProfile {
  readonly name: ProfileName;
  readonly languages: readonly string[];
  /** A program that works with the connected servers. */
  readonly example: string;
  /** Why it cannot be used on this machine. */
  readonly problem?: string;
}

export interface PlaygroundRequest {
  readonly source: string;
  readonly profile: ProfileName;
  readonly language?: string;
  readonly timeoutMs?: number;
}

export interface PlaygroundAnswer {
  readonly runId?: string;
  readonly state: RunState;
  /** Exactly what a client passes to its model, and an estimate of its tokens. */
  readonly forModel: string;
  readonly tokens: number;
  /** The same as data, for a person. */
  readonly structured: JsonObject;
  readonly isError: boolean;
  readonly notes: readonly string[];
  /** Approvals that the run waits for. They are in the inbox. */
  readonly approvals: readonly string[];
}

export interface ToolField {
  readonly name: string;
  /** The TypeScript type, abbreviated. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

export interface PlaygroundDeclarations {
  readonly servers: readonly { readonly specifier: string; readonly text: string }[];
  /** For completion: what each server exports. */
  readonly tools: readonly {
    readonly specifier: string;
    readonly exportName: string;
    /** With the types of its declaration, on one line. */
    readonly signature: string;
    /** The input fields, and the output fields if the tool declares them. */
    readonly input: readonly ToolField[];
    readonly output: readonly ToolField[];
    readonly description: string;
  }[];
}
