import type { KeptOutput } from '../../domain/process-program.js';
import type { ProcessRunSummary } from '../../host/processes/process-run.js';
import { linesWithin } from '../lines-within.js';

const TRUNCATED = '<TRUNCATED>\n';
/** stdout's share of the byte limit when stderr needs the rest. */
const STDOUT_SHARE = 1 / 4;
/** The traceback's share of stderr's bytes when the program printed more than fits. */
const TRACEBACK_SHARE = 1 / 2;

/**
 * A program's output, cut to `maxBytes`: its stdout, then its stderr. Each stream has its own share, and either may use what the
 * other leaves. Every cut is marked in place and in the last line. Output never displaces a traceback: if stderr was cut, the
 * traceback follows the mark.
 */
export function printedBy({ stdout, stderr, outcome }: PrintedSummary, maxBytes: number): string {
  const traceback = outcome.status === 'failed' ? endedByNewline(outcome.failure.stack ?? '') : '';
  const [out, err] = [endedByNewline(stdout.text), endedByNewline(stderr.text)];
  const isWhole = !stdout.isCut && !stderr.isCut;
  if (isWhole && bytesOf(out) + bytesOf(err) <= maxBytes) return out + err;
  const room = maxBytes - TRUNCATED.length;
  const outBudget = Math.max(Math.floor(room * STDOUT_SHARE), room - bytesOf(err) - TRUNCATED.length);
  const keptOut = within({ ...stdout, text: out }, outBudget);
  const errBudget = room - bytesOf(keptOut);
  const keptErr = withTraceback({ ...stderr, text: err }, traceback, errBudget);
  const printed = keptOut + keptErr;
  return printed.endsWith(TRUNCATED) ? printed : printed + TRUNCATED;
}

/**
 * The first and last lines of the output, beside an answer that a model reads. A traceback with a single frame is omitted, because
 * the error already has its position and message.
 */
export function excerptOf(summary: PrintedSummary, maxCharacters: number): string {
  const { outcome, stdout, stderr } = summary;
  const { kind, name, message, position, stack } = outcome.status === 'failed' ? outcome.failure : NO_FAILURE;
  // Code that does not compile has no stack: name and message were printed.
  const traceback = (stack ?? (kind === 'syntax' ? `${name}: ${message}` : '')).trimEnd();
  const places = traceback.match(/^\s+(?:File "|at )/gm)?.length ?? 0;
  const isPlaced =
    kind === 'import' ||
    (kind === 'syntax' && message.includes('\n')) ||
    ((kind === 'exception' || kind === 'type') && position !== undefined);
  const isSaid = isPlaced && places <= 1;
  const text = stderr.text.trimEnd();
  const isLast = traceback !== '' && text.endsWith(traceback);
  const printed = isSaid && isLast ? text.slice(0, text.length - traceback.length) : stderr.text;
  const lost = (['stdout', 'stderr'] as const).filter((name) => summary[name].isCut);
  const parts = [
    stdout.text,
    printed,
    ...lost.map((name) => `<TRUNCATED: ${name} had ${summary[name].totalBytes} bytes, and the rest is lost>`),
    // Output never displaces the traceback.
    isSaid || isLast || stderr.text.includes(traceback) ? '' : traceback,
  ];
  return linesWithin(parts.map(endedByNewline).join(''), maxCharacters);
}

const NO_FAILURE = { kind: undefined, name: '', message: '', position: undefined, stack: undefined };

type PrintedSummary = Pick<ProcessRunSummary, 'stdout' | 'stderr' | 'outcome'>;

function withTraceback(stderr: Pick<KeptOutput, 'text' | 'isCut'>, traceback: string, budget: number): string {
  const kept = within(stderr, budget);
  if (traceback === '' || kept.includes(traceback)) return kept;
  // The end says what went wrong, the beginning only where the program was entered.
  const shown = endOf(traceback, Math.floor(budget * TRACEBACK_SHARE));
  return `${within({ ...stderr, isCut: true }, budget - bytesOf(shown))}${shown}`;
}

/** The beginning of a text, with a mark if it was cut. */
function within({ text, isCut }: Pick<KeptOutput, 'text' | 'isCut'>, maxBytes: number): string {
  if (!isCut && bytesOf(text) <= maxBytes) return text;
  const room = Math.max(0, maxBytes - TRUNCATED.length - 1);
  // A character that the limit cuts in two is omitted.
  const kept = new TextDecoder().decode(Buffer.from(text).subarray(0, room), { stream: true });
  return `${endedByNewline(kept)}${TRUNCATED}`;
}

function endOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const kept = bytes.subarray(bytes.length - Math.max(0, maxBytes)).toString();
  // The first line is incomplete.
  return kept.slice(kept.indexOf('\n') + 1);
}

function endedByNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
