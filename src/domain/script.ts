import type { JsonObject } from './json.js';
import type { SourceLanguage } from './run.js';

/** The contracts a stored script can be written for. A script runs in its own contract and in no other. */
export const SCRIPT_PROFILES = ['codemode', 'code_execution'] as const;
export type ScriptProfile = (typeof SCRIPT_PROFILES)[number];

/** What is known of a stored script without its source. */
export interface ScriptHead {
  readonly name: string;
  readonly description: string;
  /** `codemode`: an ES module. `code_execution`: a classic script. */
  readonly profile: ScriptProfile;
  readonly language: SourceLanguage;
  /** JSON Schema of its input. Absent: any object. */
  readonly inputSchema?: JsonObject;
  /** What a run of it returned, as a schema without its values. A later run may return something else. */
  readonly outputSchema?: JsonObject;
  /** The tools that it was seen to call, as they were then. */
  readonly pins?: readonly ScriptPin[];
  /** The run that it was made of. */
  readonly fromRun?: string;
  /** The caller whose program stored it; absent where a person did, on the command line. */
  readonly savedBy?: string;
  /** Digest of the source. */
  readonly digest: string;
  readonly createdAtMs: number;
  /** Counted from 1: each replacement is the next. */
  readonly version: number;
}

/** A tool that a script called, and the digest of everything that the tool said of itself. */
export interface ScriptPin {
  /** As programs name it. */
  readonly server: string;
  readonly tool: string;
  readonly digest: string;
}

/** A program that a person has stored, to be run by its name. */
export interface StoredScript extends ScriptHead {
  readonly source: string;
}

/** Lower case, no dots, no slashes, nothing that looks like something else: a name is a key and never a path. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export const NAME_RULE = 'lower-case letters, digits, - and _, beginning with a letter or digit, at most 64';

export function isScriptName(name: string): boolean {
  return NAME.test(name);
}
