import { isLogged, type Log, type LogIds, type LogLevel } from '../../domain/log.js';
import { visibleJson, visibleText } from '../../lib/text/visible-text.js';
import { LogFile, type LogFileSettings } from './log-file.js';

export interface LogSettings {
  /** Messages below this level are not written. */
  readonly level: LogLevel;
  readonly format: 'json' | 'text';
  readonly outputs: readonly ({ readonly type: 'console' } | ({ readonly type: 'file' } & LogFileSettings))[];
}

/** Further lines of a message are indented, so that none looks like a message of its own. */
const CONTINUED = '\n    ';

/**
 * The log of a serving process: on stderr, in files, or both. stdout carries the protocol. A client that closed stderr, or
 * a full disk, must not end the process.
 */
export function openLog({ level: lowest, format, outputs }: LogSettings): Log {
  process.stderr.on('error', () => {});
  const onConsole = (text: string): void => {
    process.stderr.write(text);
  };
  const writers = outputs.map((output) => {
    if (output.type === 'console') return onConsole;
    const file = new LogFile(output, (problem) => onConsole(render(problem, 'error', format)));
    return (text: string) => file.write(text);
  });
  return (line, level = 'info', ids) => {
    if (!isLogged(level, lowest)) return;
    const text = render(line, level, format, ids);
    for (const write of writers) write(text);
  };
}

function render(line: string, level: LogLevel, format: LogSettings['format'], { runId, traceId }: LogIds = {}): string {
  if (format === 'json')
    return `${visibleJson({ time: new Date().toISOString(), level, message: line, runId, traceId })}\n`;
  const [of, ending] = [
    runId === undefined ? '' : `run ${runId}: `,
    traceId === undefined ? '' : ` (trace ${traceId})`,
  ];
  const weight = level === 'error' ? 'error: ' : level === 'warn' ? 'warning: ' : '';
  return `codemode: ${weight}${of}${visibleText(line).replaceAll('\n', CONTINUED)}${ending}\n`;
}
