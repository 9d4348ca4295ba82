import { isAdvice } from '../../domain/general-hints.js';
import { type Failure, type GuestError, outOfMemory } from '../../domain/run.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { OF_BODIES } from '../transpiler/explain-syntax.js';
import { EngineTrap, OUT_OF_MEMORY } from './engine.js';
import { firstPosition } from './positions.js';
import { DISCOVERY, findTool } from './suggest-instead.js';

/** Converts the engine's errors into the failures of a program. */

const MAX_TEXT_CHARACTERS = 8_000;
const MISSING_MODULE = /^could not load module '([^']{0,512})'$/;
const MISSING_EXPORT = /^Could not find export '([^']{0,256})' in module '([^']{0,512})'$/i;
/** An unknown global gets a hint with the right call instead. */
const MISSING_GLOBAL = /^'?([A-Za-z_$][\w$]{0,63})'? is not defined$/;

/** Only the top level of a server's module has its own frame, and it only throws. */
const SERVER_FRAME = /\((@codemode\/servers\/[^()\s]{0,256}):\d+:\d+\)/;

type Form = 'module' | 'script' | 'body';

export interface Suggestions {
  /** Why nothing can be imported from this module. */
  problemOf(specifier: string): GuestError | undefined;
  suggestModules(specifier: string): string;
  suggestExports(specifier: string, name: string): string;
}

export function failureOfThrown(json: string, suggestions: Suggestions, form: Form = 'module'): Failure {
  const thrown = JSON.parse(json) as {
    name?: string;
    message?: string;
    stack?: string;
    hint?: string;
    errorClass?: string;
  };
  const name = cut(thrown.name ?? 'Error', 256);
  const message = cut(thrown.message ?? 'the program failed and its error cannot be read', MAX_TEXT_CHARACTERS);
  const stack = cut(thrown.stack ?? '', MAX_TEXT_CHARACTERS);
  const position = firstPosition(stack);
  const failure = {
    name,
    message,
    ...(stack === '' ? {} : { stack }),
    ...omitUndefined({ position }),
  };

  const missingModule = MISSING_MODULE.exec(message);
  if (missingModule !== null)
    return {
      ...failure,
      kind: 'import',
      hint: NO_MODULES[form] ?? moduleHint(suggestions, missingModule[1] as string),
    };
  const missingExport = MISSING_EXPORT.exec(message);
  if (missingExport !== null) {
    const [, exported, specifier] = missingExport as unknown as [string, string, string];
    const problem = suggestions.problemOf(specifier);
    if (problem !== undefined) return importFailure(problem, specifier, position);
    const hint = cut(suggestions.suggestExports(specifier, exported), 4_000);
    // The module of a server exports its tools.
    const isTool = specifier.startsWith('@codemode/servers/');
    return { ...failure, kind: 'import', hint, ...(isTool ? { errorClass: 'ToolNotFoundError' } : {}) };
  }
  const imported = thrown.errorClass === 'ServerNotFoundError' ? SERVER_FRAME.exec(stack)?.[1] : undefined;
  const unusable = imported === undefined ? undefined : suggestions.problemOf(imported);
  if (unusable !== undefined) return importFailure(unusable, imported as string, position);
  const hint = (isAdvice(thrown.hint) ? thrown.hint : undefined) ?? hintFor(message, HINTS_OF[form]);
  return {
    ...failure,
    kind: name === 'SyntaxError' && isParseError(stack) ? 'syntax' : 'exception',
    ...omitUndefined({
      hint: ifDefined(hint, (hint) => cut(hint, 4_000)),
      errorClass: ifDefined(thrown.errorClass, (errorClass) => cut(errorClass, 256)),
    }),
  };
}

/** The failure of a module that cannot be imported, with its reason, whatever was to be imported from it. */
function importFailure(
  { errorClass, message, hint }: GuestError,
  module: string,
  position: Failure['position'],
): Failure {
  return {
    kind: 'import',
    name: errorClass,
    message: cut(message, MAX_TEXT_CHARACTERS),
    hint: cut(hint, 4_000),
    errorClass,
    module: cut(module, 512),
    ...omitUndefined({ position }),
  };
}

/** The failure for an error that the engine itself could not survive. */
export function failureOfTrap(
  error: unknown,
  { maxMemoryBytes, outOfMemoryFunction }: { readonly maxMemoryBytes: number; readonly outOfMemoryFunction: number },
): Failure {
  const limit = { kind: 'limit', name: 'SandboxLimitError' } as const;
  if (isOutOfMemory(error, outOfMemoryFunction)) return outOfMemory(maxMemoryBytes);
  if (error instanceof RangeError) {
    return {
      ...limit,
      limit: 'stack',
      message: 'the program nested its calls or data too deeply',
      hint: 'Turn the recursion into a loop.',
    };
  }
  return {
    ...limit,
    limit: 'memory',
    message: 'the program crashed its engine',
    hint: 'Simplify what it does with very large or deeply nested values.',
  };
}

/** Recognised by our own message, or by the function that was patched to trap: it is the innermost frame. */
function isOutOfMemory(error: unknown, outOfMemoryFunction: number): boolean {
  if (error instanceof EngineTrap) return error.message === OUT_OF_MEMORY;
  if (!(error instanceof WebAssembly.RuntimeError)) return false;
  return (error.stack?.split('\n')[1] ?? '').includes(`wasm-function[${outOfMemoryFunction}]`);
}

/** A parse error has no frame of a running function, only the position where the parser stopped. */
function isParseError(stack: string): boolean {
  return !stack.split('\n').some((line) => /^\s+at .*\(/.test(line));
}

function moduleHint(suggestions: Suggestions, specifier: string): string {
  return cut(suggestions.suggestModules(specifier), 4_000);
}

const NO_NETWORK = `There is no network here. ${findTool('fetch a page')}`;

const HINTS: Readonly<Record<string, string>> = {
  fetch: NO_NETWORK,
  require: "Write: import * as server from '@codemode/servers/<server>'. There are no other packages.",
  process: 'There is no environment here. Write values into the program; servers have their own credentials.',
  Buffer: 'Use Uint8Array with TextEncoder, TextDecoder, atob and btoa.',
  setInterval: 'Use setTimeout in a loop: await new Promise((resolve) => setTimeout(resolve, 1000)).',
  setImmediate: 'Use setTimeout(callback, 0).',
  XMLHttpRequest: NO_NETWORK,
  WebSocket: NO_NETWORK,
  eval: 'Code cannot be made from strings here; write it out in the program.',
  tools: `Use: import { searchTools } from '${DISCOVERY}'; await searchTools('words').`,
  mcp: "Use: import * as server from '@codemode/servers/<server>' and await server.tool(input).",
  module: 'Assign the result to globalThis.__codemode_result__.',
  exports: 'Assign the result to globalThis.__codemode_result__.',
  crypto: 'There is no crypto here; make an id from Math.random() and Date.now().',
  performance: 'Use Date.now().',
  Intl: 'Intl is not available; format dates and numbers by hand (toISOString, toFixed).',
};

const CALLS_ONLY = 'Call a tool: call_tool(server, tool, args).';
const SCRIPT_HINTS: Readonly<Record<string, string>> = {
  fetch: `There is no network here. ${CALLS_ONLY}`,
  XMLHttpRequest: `There is no network here. ${CALLS_ONLY}`,
  WebSocket: `There is no network here. ${CALLS_ONLY}`,
  require: `There are no modules here. ${CALLS_ONLY}`,
  process: `There is no process here: no environment, no files. ${CALLS_ONLY}`,
  setTimeout: 'There are no timers here: calls block until they are answered.',
  setInterval: 'There are no timers here: calls block until they are answered.',
  setImmediate: 'There are no timers here; use queueMicrotask(callback).',
  module: 'Let the result be the last expression.',
  exports: 'Let the result be the last expression.',
  Buffer: HINTS['Buffer'] as string,
  eval: HINTS['eval'] as string,
  Intl: HINTS['Intl'] as string,
  crypto: HINTS['crypto'] as string,
  performance: HINTS['performance'] as string,
};

const BODY_HINTS: Readonly<Record<string, string>> = {
  ...HINTS,
  fetch: 'The request was granted no network. Ask for it: "capabilities": ["network:api.example.com:443"].',
  fs: 'The request was granted no files. Ask for them: "capabilities": ["filesystem:/absolute/path"].',
  XMLHttpRequest: 'Call a tool: await mcp.<namespace>.<tool>({ ... }).',
  WebSocket: 'Call a tool: await mcp.<namespace>.<tool>({ ... }).',
  require: 'There are no modules here: tools are functions of `mcp`.',
  tools: 'Tools are functions of `mcp`: await mcp.<namespace>.<tool>({ ... }).',
  module: 'Return the result.',
  exports: 'Return the result.',
};

/** The hints for `await import(...)`, in forms that import nothing. */
const NO_MODULES: Readonly<Partial<Record<Form, string>>> = {
  script: SCRIPT_HINTS['require'] as string,
  body: OF_BODIES.hint,
};

const HINTS_OF = { module: HINTS, script: SCRIPT_HINTS, body: BODY_HINTS } as const;

function hintFor(message: string, hints: Readonly<Record<string, string>>): string | undefined {
  const name = MISSING_GLOBAL.exec(message)?.[1];
  return name !== undefined && Object.hasOwn(hints, name) ? hints[name] : undefined;
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 3)}...`;
}

export const NEVER_SETTLED: Failure = {
  kind: 'never_settled',
  name: 'Error',
  message: 'the program awaits a promise that nothing can settle any more',
  hint: 'Look for an `await` on a promise whose resolve function is never called.',
};

export function resultTooLarge(bytes: number, most: number): Failure {
  return {
    kind: 'limit',
    name: 'SandboxLimitError',
    limit: 'output',
    message: `the result is ${bytes} bytes of JSON; at most ${most} can be returned`,
    hint: 'Filter or summarise the data in the program and return only what is needed.',
  };
}

/** The host has ended the program and no longer reads this, but it still expects a reply. */
export const DROPPED: Failure = { kind: 'cancelled', name: 'Error', message: 'the program was ended' };

export function notSerializable(failure: Failure, form: Form): Failure {
  return {
    ...failure,
    kind: 'not_serializable',
    message: `the result cannot be turned into JSON: ${failure.message}`,
    hint: PLAIN_DATA[form],
  };
}

const PLAIN_DATA = {
  module: 'Assign plain data (objects, arrays, strings, numbers, booleans, null) to globalThis.__codemode_result__.',
  script:
    'Let the last expression, or what is returned, be plain data: objects, arrays, strings, numbers, booleans, null.',
  body: 'Return plain data: objects, arrays, strings, numbers, booleans, null.',
} as const;
