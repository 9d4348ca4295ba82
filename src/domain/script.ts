import type { JsonObject } from './json.js';
import type { SourceLanguage } from './run.js';

/** The contracts that a stored script can be written for. Programs of every contract can run it; it runs as its own prescribes. */
export const SCRIPT_PROFILES = ['codemode', 'code_execution'] as const;
export type ScriptProfile = (typeof SCRIPT_PROFILES)[number];

/** The two functions of a classic script. */
export const CLASSIC_CALLS = { tool: 'call_tool', script: 'call_script' } as const;

/** A stored script without its source. */
export interface ScriptHead {
  readonly name: string;
  readonly description: string;
  /** `codemode`: an ES module. `code_execution`: a classic script. */
  readonly profile: ScriptProfile;
  readonly language: SourceLanguage;
  /** JSON Schema of its input. Absent: any object. */
  readonly inputSchema?: JsonObject;
  /** Schema of what a run of it returned, without the values. A later run may return something else. */
  readonly outputSchema?: JsonObject;
  /** The tools that it called, with their digests at that time. */
  readonly pins?: readonly ScriptPin[];
  /** The run that it was made from. */
  readonly fromRun?: string;
  /** The caller whose program stored it; absent if a person stored it on the command line. */
  readonly savedBy?: string;
  /** Digest of the source. */
  readonly digest: string;
  readonly createdAtMs: number;
  /** Counted from 1. Each replacement increments it. */
  readonly version: number;
}

/** A tool that a script called, and the digest of the tool's whole definition. */
export interface ScriptPin {
  /** The name that programs use. */
  readonly server: string;
  readonly tool: string;
  readonly digest: string;
}

/** A stored program that can be run by its name. */
export interface StoredScript extends ScriptHead {
  readonly source: string;
}

/** Lower case, no dots, no slashes, no look-alike characters: a name is a key and never a path. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export const NAME_RULE = 'lower-case letters, digits, - and _, beginning with a letter or digit, at most 64';

export function isScriptName(name: string): boolean {
  return NAME.test(name);
}
