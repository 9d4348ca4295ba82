/** From debugging details to errors that need attention. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Whether a line of this level is written if `lowest` is the configured level. */
export function isLogged(level: LogLevel, lowest: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(lowest);
}

/** Ids that a line can be searched by. */
export interface LogIds {
  readonly runId?: string | undefined;
  readonly traceId?: string | undefined;
}

/** One line for people. The default level is `info`. */
export type Log = (line: string, level?: Exclude<LogLevel, 'silent'>, ids?: LogIds) => void;
