import type { Failure, GuestError } from '../domain/run.js';
import { isDeeperThan, MAX_LEVELS } from '../lib/text/json-depth.js';
import { excessOf, TOO_MANY_KEYS } from '../lib/text/json-excess.js';

/** Program failures that only the host can see. */

export const CANCELLED: Failure = { kind: 'cancelled', name: 'Error', message: 'the run was cancelled' };

/** For a program whose workers died before they reported anything: the parser is the first to process the source. */
export const UNREADABLE: Failure = {
  kind: 'syntax',
  name: 'SyntaxError',
  message: 'the source could not be parsed: it is nested too deeply, or crashes the parser in another way',
  hint: 'Flatten deeply nested parentheses, brackets or expressions.',
};

/** For a run that came back from V8 and does not repeat what it did there. */
export const ENGINES_DISAGREE: Failure = {
  kind: 'worker_lost',
  name: 'Error',
  message: 'the program makes different calls in QuickJS than in V8, so it could not continue',
  hint: 'Run it again with sandbox.engine: quickjs.',
};

export function tooManyOpenCalls(most: number): Failure {
  return {
    kind: 'limit',
    name: 'SandboxLimitError',
    limit: 'output',
    message: `the program had ${most} calls open at once`,
    hint: 'Await calls in batches of at most a hundred.',
  };
}

export function tooLargeOpenCalls(mostBytes: number): Failure {
  return {
    kind: 'limit',
    name: 'SandboxLimitError',
    limit: 'output',
    message: `the arguments of the calls that were open at once had more than ${mostBytes} bytes`,
    hint: 'Await calls in smaller batches.',
  };
}

const TOO_DEEP = `more than ${MAX_LEVELS} levels of nesting`;

/** The failure of a program whose JSON would stop the host for everybody when it is parsed. `what`: what the text is. */
export function excessFailure(what: string, json: string): Failure | undefined {
  const excess = isDeeperThan(json, MAX_LEVELS) ? TOO_DEEP : excessOf(json);
  if (excess === undefined) return undefined;
  return {
    kind: 'limit',
    name: 'SandboxLimitError',
    limit: 'output',
    message: `${what} had ${excess}`,
    hint: adviceOn(excess),
  };
}

function adviceOn(excess: string): string {
  if (excess === TOO_DEEP) return 'Use a flat list of items that refer to each other by id.';
  if (excess === TOO_MANY_KEYS) return 'Use arrays of rows instead of objects with a key for each item.';
  return 'Filter or summarise, or pass it on in parts.';
}

export function tooMuchDelivered(mostBytes: number): Failure {
  return {
    kind: 'limit',
    name: 'SandboxLimitError',
    limit: 'output',
    message: `the results of the program's calls had more than ${mostBytes} bytes in all`,
    hint: 'Ask the tools for less (filters, smaller pages).',
  };
}

export function tooMuchOfCaller(mostBytes: number): Failure {
  return {
    kind: 'limit',
    name: 'SandboxLimitError',
    limit: 'output',
    message: `the open calls and results of your running programs hold more than ${mostBytes} bytes in all (quotas.memory)`,
    hint: 'Run fewer programs at once, and ask the tools for less (filters, smaller pages).',
  };
}

export function endedItsWorker(reason: string): Failure {
  return {
    kind: 'worker_lost',
    name: 'SandboxLimitError',
    limit: 'memory',
    message: `the program crashed its worker (${reason})`,
    hint: 'Do less at once: it used more memory than its process has, or crashed the engine.',
  };
}

export function lostItsWorkers(reason: string): Failure {
  return {
    kind: 'worker_lost',
    name: 'Error',
    message: `the program could not continue in another worker: ${reason}`,
    hint: 'Run it again.',
  };
}

/** The error that a program gets when answering its call failed inside the host. */
export const FAILED_INSIDE: GuestError = {
  errorClass: 'ToolCallError',
  message: 'the call failed inside the host',
  hint: 'Tell the user: the log of the host says why.',
};
