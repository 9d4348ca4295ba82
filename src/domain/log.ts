/** From debugging details to errors that need attention. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Whether a line of this weight is written where `lowest` is the level. */
export function isLogged(level: LogLevel, lowest: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(lowest);
}

/** What a line is about, for who looks for it by that. */
export interface LogIds {
  readonly runId?: string | undefined;
  readonly traceId?: string | undefined;
}

/** One line for people. `info` unless said otherwise. */
export type Log = (line: string, level?: Exclude<LogLevel, 'silent'>, ids?: LogIds) => void;
