import type { JsonObject } from './json.js';

/** How calls of one tool are undone: by a call of another tool, built from what was sent and answered. */
export interface UndoRule {
  /** `server/tool`, with the user's name of the server and the server's name of the tool. */
  readonly tool: string;
  /** `server/tool`, or a tool of the same server. */
  readonly with: string;
  /** Strings that begin with `$result` or `$arguments` are replaced by a part of these. All other values are sent unchanged. */
  readonly arguments: JsonObject;
}

/**
 * The state of undoing a call.
 * - `begun`: it was about to be sent, and no outcome is recorded
 * - `undone`: the server has confirmed it
 * - `failed`: the server has refused it; it can be tried again
 * - `unknown`: the record was not written by a host
 */
export type UndoState = 'begun' | 'undone' | 'failed' | 'unknown';
