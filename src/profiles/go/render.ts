import { ERRORS, type HostError } from '../../domain/errors.js';
import { checkFirst, type Failure } from '../../domain/run.js';
import type { ProcessRunSummary } from '../../host/processes/process-run.js';

/** The response of `execute_go_code` for every outcome. */
export interface GoResponse {
  readonly output: string;
}

/** The program's output, followed by the reason if it failed. `advice`: help with the code. */
export function renderProgram({ outcome, stdout, stderr }: ProcessRunSummary, advice = ''): GoResponse {
  const failure = outcome.status === 'failed' ? outcome.failure : undefined;
  const said = failure === undefined ? '' : sayFailure(failure);
  const parts = [
    stdout.text,
    stdout.isCut ? cutNote(stdout.totalBytes) : '',
    withoutCrash(stderr.text, failure),
    said,
    failure === undefined ? '' : checkFirst(failure),
    advice,
  ];
  return { output: joined(parts, failure !== undefined) };
}

/** The response to a host failure or an invalid request. */
export function renderHostError({ code, message }: HostError): GoResponse {
  if (code === 'bad_input') return { output: `${message}. Nothing has run.\n` };
  const advice = ERRORS[code].retry ? 'Send the same request again.' : 'Tell the user; trying again will not help.';
  return { output: `${message}. ${advice}\n` };
}

function sayFailure(failure: Failure): string {
  const { kind, name, message, stack, position, hint } = failure;
  switch (kind) {
    case 'syntax':
    case 'type':
    case 'import':
      return `compile error, nothing has run:\n${message}${hint === undefined || hint === '' ? '' : `\n${hint}`}`;
    case 'exception': {
      const place = position === undefined ? '' : `\nat program.go:${position.line}`;
      // A goroutine stands in its own line and in the line that started it, which may be the same.
      const lines = [...new Set(stack?.split('\n'))].join('\nat ');
      return `${name}: ${message}${lines === '' ? place : `\nat ${lines}`}`;
    }
    case 'limit':
      return `stopped: ${message}. ${LIMIT_ADVICE[failure.limit ?? 'memory']}`;
    case 'never_settled':
    case 'not_serializable':
    case 'cancelled':
    case 'forbidden':
    case 'worker_lost':
      return `stopped: ${message}`;
  }
}

const LIMIT_ADVICE = {
  timeout: 'Do less in one run, or call tools from several goroutines at once.',
  memory: 'Keep less in memory at once.',
  stack: 'Recurse less deeply.',
  output: 'Print less: counts and the fields that are needed.',
  calls: 'Ask for more in one call.',
  disk: 'Write less.',
  processes: 'Use fewer threads at once.',
  cpu: 'Compute less.',
} as const satisfies Record<NonNullable<Failure['limit']>, string>;

function cutNote(totalBytes: number): string {
  return `<output cut: the program printed ${totalBytes} bytes; print less>`;
}

/** Removes a crash report from the output: the failure shows it, with the program's own lines only. */
function withoutCrash(text: string, failure: Failure | undefined): string {
  if (failure?.limit !== undefined) return withoutFatalError(text);
  if (failure?.name !== 'panic' && failure?.name !== 'fatal error') return text;
  const [line = ''] = failure.message.split('\n', 1);
  const start = text.lastIndexOf(`${failure.name}: ${line}`);
  // A panic of the program's own goroutine is not in there, and earlier output may look like one.
  const isCrash = start === 0 || (start > 0 && text[start - 1] === '\n');
  return isCrash && /\ngoroutine \d+ /.test(text.slice(start)) ? text.slice(0, start) : text;
}

/** What Go says itself when it gets no memory or no thread. */
function withoutFatalError(text: string): string {
  const [report = ''] =
    /(?:^runtime: .*\n)*^fatal error: .*\n\n(?:runtime stack:|goroutine \d+ )[\s\S]*$/m.exec(text) ?? [];
  return text.slice(0, text.length - report.length);
}

/** Each part starts on a new line. The output of a program without other parts stays unchanged. */
function joined(parts: readonly string[], isEnded: boolean): string {
  const text = parts
    .filter((part) => part !== '')
    .reduce((all, part) => (all === '' || all.endsWith('\n') ? all + part : `${all}\n${part}`), '');
  return isEnded && !text.endsWith('\n') ? `${text}\n` : text;
}
