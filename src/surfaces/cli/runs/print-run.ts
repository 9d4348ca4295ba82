import type { SuspendedSummary } from '../../../host/runs/run-types.js';
import type { Diagnostic, RunResponse } from '../../../profiles/codemode/render.js';
import { plain, plainLine, printableJson, styled, terminalWidth } from '../terminal/terminal.js';
import { hangingText } from '../trust/consent-text.js';
import { noteOwnName } from '../trust/own-name-note.js';

/** How the response of a run is printed. */
export interface OutputFlags {
  readonly json?: boolean | undefined;
  readonly pretty?: boolean | undefined;
}

/** On a terminal it is for people, unless they ask for JSON; a program that reads a pipe gets JSON. */
export function isForPeople({ json, pretty }: OutputFlags): boolean {
  return process.stdout.isTTY === true && json !== true && pretty !== true;
}

/** Prints a response: for people on a terminal, else as JSON. */
export function writeResponse(
  response: RunResponse,
  flags: OutputFlags,
  more: { readonly source: string; readonly durationMs?: number },
): void {
  const text = isForPeople(flags) ? textOf(response, more) : printableJson(response, flags.pretty === true);
  process.stdout.write(`${text}\n`);
}

/** The response in a few lines: logs, the result or the error with its line, and the calls. */
export function textOf(
  { logs, result, diagnostics, toolTrace }: RunResponse,
  { source, durationMs }: { readonly source: string; readonly durationMs?: number },
): string {
  const hasFailed = diagnostics.some(({ severity }) => severity === 'error');
  return [
    ...logs.map(({ level, message }) => logLine(level, message)),
    ...(hasFailed ? [] : [valueText(result)]),
    ...diagnostics.flatMap((each) => (each.code === 'SERVER_TYPES' ? [] : diagnosticLines(each, source))),
    styled('dim', [callsText(toolTrace), ...(durationMs === undefined ? [] : [timeText(durationMs)])].join(', ')),
  ].join('\n');
}

/** What a person can do about a suspended run. */
export function writeSuspended({ runId, approvals, logs, trace }: SuspendedSummary): void {
  const [first] = approvals;
  const named = approvals.map(
    ({ tool, reason }) =>
      `  ${hangingText(`${plainLine(`${tool.serverId}/${tool.toolName}`)}: ${reason.replaceAll('\n', ' ')}`, '    ')}`,
  );
  const calls = approvals.length === 1 ? '1 call needs approval' : `${approvals.length} calls need approval`;
  const lines = [
    ...logs.map(({ level, message }) => logLine(level, message)),
    styled('yellow', plainLine(`Run ${runId} is suspended: ${calls}.`)),
    ...named.slice(0, MAX_NAMED),
    ...(named.length > MAX_NAMED ? [`  and ${named.length - MAX_NAMED} more`] : []),
    `Approve with: codemode approvals approve ${plainLine(first?.id ?? 'ID')}${approvals.length > 1 ? ' --scope calls' : ''}`,
    `Then resume:  codemode runs resume ${plainLine(runId)}`,
    styled('dim', callsText(trace)),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  noteOwnName('codemode approvals');
}

/** A string unchanged, everything else as JSON. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return plain(value);
  return printableJson(value, true);
}

function logLine(level: string, message: string): string {
  const text = `${level.padEnd(5)} ${hangingText(message, '      ')}`;
  return level === 'error' || level === 'warn'
    ? styled(level === 'error' ? 'red' : 'yellow', text)
    : styled('dim', text);
}

const COLOURS = { error: 'red', warning: 'yellow', info: 'dim' } as const;

function diagnosticLines({ severity, message, hint, path }: Diagnostic, source: string): string[] {
  const place = /:(\d+):(\d+)$/.exec(path ?? '');
  const at = place === null ? '' : ` (line ${place[1]})`;
  const code = place === null ? [] : codeLines(source, Number(place[1]), Number(place[2]));
  // A syntax error has the same lines in its message, for models.
  const said = code.length === 0 ? message : message.replace(/\n\d+ \| .*\n +\| +\^$/, '');
  return [
    `${styled(COLOURS[severity], `${severity}:`)} ${hangingText(`${said}${at}`, '         ')}`,
    ...code,
    ...(hint === undefined ? [] : [`  ${hangingText(hint, '  ')}`]),
  ];
}

const MAX_LINE_CHARACTERS = 200;
/** The indent, the bar, and one column to spare. */
const CODE_MARGIN = 6;

function codeLines(source: string, line: number, column: number): string[] {
  const text = source.split('\n')[line - 1];
  // A line that the terminal wraps would continue at the left edge.
  const most = Math.min(MAX_LINE_CHARACTERS, (terminalWidth() ?? Infinity) - String(line).length - CODE_MARGIN);
  if (text === undefined || text === '' || column > most) return [];
  // Each character takes one column, so that the mark is under the right one.
  const shown = text.slice(0, most).replace(/[^\x20-\x7e\u00a1-\u02ff\u0370-\u058f]/g, ' ');
  const number = String(line);
  return [
    `  ${number} | ${shown}`,
    `  ${' '.repeat(number.length)} | ${' '.repeat(Math.max(0, column - 1))}${styled('red', '^')}`,
  ];
}

const MAX_NAMED = 6;

/** `3 calls: files/read_file 2 times, mail/send (failed)`. */
function callsText(trace: RunResponse['toolTrace']): string {
  if (trace.length === 0) return 'no calls';
  const tools = new Map<string, { calls: number; failed: number }>();
  for (const { serverId, toolName, ok } of trace) {
    const name = plainLine(`${serverId}/${toolName}`);
    const { calls, failed } = tools.get(name) ?? { calls: 0, failed: 0 };
    tools.set(name, { calls: calls + 1, failed: failed + (ok ? 0 : 1) });
  }
  const named = [...tools].slice(0, MAX_NAMED).map(([name, { calls, failed }]) => {
    const how = failed === 0 ? '' : failed === calls ? ' (failed)' : ` (${failed} failed)`;
    return `${name}${calls === 1 ? '' : ` ${calls} times`}${how}`;
  });
  const more = tools.size > MAX_NAMED ? [`and ${tools.size - MAX_NAMED} more tools`] : [];
  return `${trace.length} ${trace.length === 1 ? 'call' : 'calls'}: ${[...named, ...more].join(', ')}`;
}

function timeText(durationMs: number): string {
  return durationMs < 1_000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1_000).toFixed(1)} s`;
}
