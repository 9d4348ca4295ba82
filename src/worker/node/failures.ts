import { inspect } from 'node:util';
import type { Failure, LimitName, SourcePosition } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { ToolError } from './client.js';

const MAX_NAME_CHARACTERS = 256;
const MAX_TEXT_CHARACTERS = 8_000;
const MAX_HINT_CHARACTERS = 2_000;
const MAX_FRAMES = 32;

/** The failure of a program. It reads the thrown value with care: it may be anything, including getters that throw. */
export function failureOf(error: unknown, workspace: string): Failure {
  const name = textOf(() => (error instanceof Error ? error.name : 'Error')).slice(0, MAX_NAME_CHARACTERS);
  const message = textOf(() => (error instanceof Error ? error.message : `the program threw ${shown(error)}`));
  const stack = ownStack(
    textOf(() => (error instanceof Error ? (error.stack ?? '') : '')),
    workspace,
  );
  const position = positionIn(stack, workspace);
  const toolFailure = error instanceof ToolError ? textOf(() => error.type).slice(0, MAX_NAME_CHARACTERS) : '';
  const hint = error instanceof ToolError ? textOf(() => error.hint).slice(0, MAX_HINT_CHARACTERS) : '';
  const code = textOf(() => (error instanceof Error ? Reflect.get(error, 'code') : ''));
  return {
    ...kindOf(error, code, message),
    name,
    message: message.slice(0, MAX_TEXT_CHARACTERS),
    // The program did not catch a failed call: the error class says whether another run may succeed.
    ...(toolFailure === '' ? {} : { errorClass: toolFailure }),
    ...(hint === '' ? {} : { hint }),
    ...(stack === '' ? {} : { stack: stack.slice(0, MAX_TEXT_CHARACTERS) }),
    ...omitUndefined({ position }),
  };
}

/** A thrown value that is not an Error, described: a bare value explains nothing by itself. */
function shown(thrown: unknown): string {
  if (typeof thrown === 'string') return `${thrown} (a string, not an Error)`;
  return `${inspect(thrown, { depth: 2 })}, which is not an Error`;
}

function kindOf(error: unknown, code: string, message: string): Pick<Failure, 'kind' | 'limit'> {
  const limit = limitOf(error, code, message);
  if (limit !== undefined) return { kind: 'limit', limit };
  if (IMPORT_CODES.has(code)) return { kind: 'import' };
  // An import that a module does not export, or a module of the workspace that does not parse.
  if (error instanceof SyntaxError) return { kind: /export named/.test(message) ? 'import' : 'syntax' };
  return { kind: 'exception' };
}

function limitOf(error: unknown, code: string, message: string): LimitName | undefined {
  if (error instanceof RangeError && message.includes('call stack')) return 'stack';
  if (error instanceof RangeError && message.includes('Array buffer allocation failed')) return 'memory';
  if (DISK_CODES.has(code)) return 'disk';
  const systemCall = textOf(() => (error instanceof Error ? Reflect.get(error, 'syscall') : ''));
  if (code === 'EAGAIN' && systemCall.startsWith('spawn')) return 'processes';
  return code === 'ERR_WORKER_INIT_FAILED' && message.includes('EAGAIN') ? 'processes' : undefined;
}

/** No space, over the quota, or over the file size limit: a workspace is one file system with one limit. */
const DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

const IMPORT_CODES = new Set([
  'ERR_MODULE_NOT_FOUND',
  'ERR_UNKNOWN_BUILTIN_MODULE',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'ERR_PACKAGE_PATH_NOT_EXPORTED',
  'ERR_UNSUPPORTED_ESM_URL_SCHEME',
]);

/** The title and the frames of the program's own files, without those of Node, of our code, or of generated modules. */
function ownStack(stack: string, workspace: string): string {
  const lines = stack.replaceAll(`file://${workspace}/`, `${workspace}/`).split('\n');
  const firstFrame = lines.findIndex((line) => /^\s+at /.test(line));
  const title = firstFrame < 0 ? lines : lines.slice(0, firstFrame);
  const frames = (firstFrame < 0 ? [] : lines.slice(firstFrame)).filter(
    (line) =>
      line.includes(`${workspace}/`) &&
      !line.includes(`${workspace}/servers/`) &&
      !line.includes(`${workspace}/client/`),
  );
  return [...title, ...frames.slice(0, MAX_FRAMES)].join('\n');
}

/** The first position in the program itself. Stacks of errors that Node has not printed yet contain file URLs. */
export function positionIn(stack: string, workspace: string): SourcePosition | undefined {
  const at = stack.indexOf(`${workspace}/program.mjs:`);
  const [, line, column] = /^:(\d{1,9})(?::(\d{1,9}))?/.exec(stack.slice(at + `${workspace}/program.mjs`.length)) ?? [];
  return at < 0 || line === undefined ? undefined : { line: Number(line), column: Number(column ?? 1) };
}

function textOf(read: () => unknown): string {
  try {
    const value = read();
    return typeof value === 'string' ? value : String(value ?? '');
  } catch {
    return '<a value that cannot be shown>';
  }
}
