import type { RunItem } from './runs.js';
import type { ServerView } from './tools.js';

/**
 * `id` of each event is a number with the stream's own prefix. A `refresh` comes at the beginning of a new stream and after a
 * gap that cannot be filled: load everything on the screen again. Events say what changed; the page loads what it shows.
 */
export type ConsoleEvent =
  | { readonly type: 'refresh' }
  /** Approvals were added, decided or have expired. `added`: ids of new ones, for notifications; at most 100. */
  | { readonly type: 'approvals'; readonly pending: number; readonly added: readonly string[] }
  /** Runs that started, were suspended or ended: the newest state of each, at most 100. `hasMore`: load the list again. */
  | { readonly type: 'runs'; readonly runs: readonly RunItem[]; readonly hasMore: boolean }
  /** A run did something: a call began or ended, a log line. Load it again if it is on the screen. */
  | { readonly type: 'progress'; readonly runIds: readonly string[] }
  | { readonly type: 'servers'; readonly servers: readonly ServerView[] }
  | { readonly type: 'audit'; readonly count: number }
  /** A client has connected, or is still connected. */
  | { readonly type: 'clients' }
  /** The session was revoked or has expired; the stream ends. */
  | { readonly type: 'session_ended'; readonly message: string }
  /** The host is stopping, which ends the session and the stream. */
  | { readonly type: 'host_stops' };
