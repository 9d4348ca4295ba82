import type { JsonObject } from './json.js';

/** How calls of one tool are undone: by a call of another, made of what was sent and answered. */
export interface UndoRule {
  /** `server/tool`, as the user and the server name them. */
  readonly tool: string;
  /** `server/tool`, or a tool of the same server. */
  readonly with: string;
  /** Texts that begin with `$result` or `$arguments` stand for a part of these; everything else is sent as it is. */
  readonly arguments: JsonObject;
}

/**
 * What became of undoing a call.
 * - `begun`: it was about to be sent, and nobody has recorded what came of it
 * - `undone`: the server has confirmed it
 * - `failed`: the server has refused it; it can be tried again
 * - `unknown`: what is recorded was not written by a host
 */
export type UndoState = 'begun' | 'undone' | 'failed' | 'unknown';
