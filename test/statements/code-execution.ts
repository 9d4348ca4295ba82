import type { Statement } from './statement.js';

const SCRIPT = 'conformance/code-execution/script.test.ts';
const TOOL = 'conformance/code-execution/tool.test.ts';
const SCRIPTS = 'sandbox/scripts.test.ts';
const VALUES = 'sandbox/script-values.test.ts';
const EXEC = 'e2e/scripts/code-exec.test.ts';
const POOL = 'e2e/scripts/pool.test.ts';
const CONTRACT = 'src/profiles/code-execution/contract.test.ts';
const RENDER = 'src/profiles/code-execution/render.test.ts';
const LOAD = 'src/config/load.test.ts';

const SCHEMA = 'one tool is listed, with the schema of the document';
const NO_WORLD = 'has no modules, timers, network, files or process';
const FAILS = 'a script that fails is printed with its code, and exits with 1: %j';
const BAD_FLAGS = 'bad input is one message on stderr, and status 2: %j';
const OUT_OF_RANGE = 'a value that is out of range is shown under its key: %s %j';
const NOT_JSON = 'a value that is not JSON, at any depth: %s';
const IS_JSON = 'values that are JSON, and nested undefined as JSON has it';
const FROM_FILES = 'reads script and input from files, TypeScript by its name, and calls tools';
const FROM_CONFIG = 'sets time, calls and places, and a request goes before it';
const PLACES = 'as many scripts run as there are workers; others queue without spending their time';

/** Document D, statement by statement. The words are ours. */
export const CODE_EXECUTION_STATEMENTS: readonly Statement[] = [
  // D1: the tool and its schema
  { id: 'D1.1', clause: 'Tool Schema', says: 'The tool is called `code_execution`', test: [TOOL, SCHEMA] },
  {
    id: 'D1.2',
    clause: 'Tool Schema, description',
    says: 'Its description says that one script does the work of several calls of upstream tools',
    test: ['conformance/code-execution/tool.test.ts', 'one tool is listed, with the schema of the document'],
  },
  { id: 'D1.3', clause: 'Tool Schema', says: 'The input schema is an object', test: [TOOL, SCHEMA] },
  { id: 'D1.4', clause: 'Tool Schema, code', says: '`code` is a string', test: [TOOL, SCHEMA] },
  {
    id: 'D1.5',
    clause: 'Tool Schema, code',
    says: 'The description of `code` names JavaScript or TypeScript source, ES2020 and newer',
    test: [TOOL, SCHEMA],
  },
  { id: 'D1.6', clause: 'Tool Schema, language', says: '`language` is a string', test: [TOOL, SCHEMA] },
  {
    id: 'D1.7',
    clause: 'Tool Schema, language',
    says: '`language` is one of `javascript` and `typescript`',
    test: [TOOL, SCHEMA],
  },
  {
    id: 'D1.8',
    clause: 'Tool Schema, language',
    says: 'The schema has `javascript` as its default',
    test: [TOOL, SCHEMA],
  },
  {
    id: 'D1.9',
    clause: 'Tool Schema, language',
    says: 'The description of `language` has the words of the document',
    test: [TOOL, SCHEMA],
  },
  { id: 'D1.10', clause: 'Tool Schema, input', says: '`input` is an object', test: [TOOL, SCHEMA] },
  {
    id: 'D1.11',
    clause: 'Tool Schema, input',
    says: 'The schema has `{}` as the default of `input`',
    test: [TOOL, SCHEMA],
  },
  {
    id: 'D1.12',
    clause: 'Tool Schema, input',
    says: 'The description of `input` has the words of the document',
    test: [TOOL, SCHEMA],
  },
  {
    id: 'D1.13',
    clause: 'Tool Schema, options',
    says: '`options` is an object with exactly three properties, under the description of the document',
    test: [TOOL, SCHEMA],
  },
  {
    id: 'D1.14',
    clause: 'Tool Schema, timeout_ms',
    says: '`timeout_ms` is a number from 1 to 600000 in the schema',
    test: [TOOL, SCHEMA],
  },
  {
    id: 'D1.15',
    clause: 'Tool Schema, max_tool_calls',
    says: '`max_tool_calls` is a number of at least 0 in the schema, where 0 means no limit',
    test: [TOOL, SCHEMA],
  },
  {
    id: 'D1.16',
    clause: 'Tool Schema, allowed_servers',
    says: '`allowed_servers` is an array of strings in the schema, where empty means all',
    test: [TOOL, SCHEMA],
  },
  { id: 'D1.17', clause: 'Tool Schema, required', says: 'Only `code` is required', test: [TOOL, SCHEMA] },
  {
    id: 'D1.18',
    clause: 'Success Response',
    says: 'A success is an object with `ok` and `value` and nothing else',
    test: [SCRIPT, 'basic request: the value of the last expression'],
  },
  {
    id: 'D1.19',
    clause: 'Response Fields, ok',
    says: '`ok` is true after every script that came to its end',
    test: [RENDER, 'a value is handed over as it is, and one that is too large is not'],
  },
  {
    id: 'D1.20',
    clause: 'Response Fields, value',
    says: '`value` is what the script returned, of any JSON type',
    test: [SCRIPT, IS_JSON],
  },
  {
    id: 'D1.21',
    clause: 'Success Response, example',
    says: 'A value may hold a number of milliseconds that the script read from the clock',
    test: [SCRIPTS, 'comes out the same when its journal is played again, from text'],
  },
  {
    id: 'D1.22',
    clause: 'Tool Schema',
    says: 'The schema leaves room for further fields, in the request and in `options`',
    differs:
      'CONFORMANCE.md, D6: a field that resembles a name of the contract is refused with the name that was probably meant; others are left out',
  },

  // D2: call_tool
  {
    id: 'D2.1',
    clause: 'Global Functions',
    says: '`call_tool` is a global function that calls a tool of an upstream server',
    test: [SCRIPT, 'call_tool with both branches'],
  },
  {
    id: 'D2.2',
    clause: 'Global Functions, examples',
    says: 'It is synchronous: the next statement has the answer',
    test: [SCRIPTS, 'blocks it, under its own name and with all of its arguments'],
  },
  {
    id: 'D2.3',
    clause: 'call_tool, serverName',
    says: 'The first argument is the name of a server, a required string',
    test: [SCRIPT, 'answers call_tool(%s) with %s'],
  },
  {
    id: 'D2.4',
    clause: 'call_tool, toolName',
    says: 'The second argument is the name of a tool, a required string',
    test: [SCRIPT, 'answers call_tool(%s) with %s'],
  },
  {
    id: 'D2.5',
    clause: 'call_tool, args',
    says: 'The third argument is an object that reaches the tool as its input',
    test: [SCRIPT, 'returns structured content, text, and parsed text, and the failure of a tool as a value'],
  },
  {
    id: 'D2.6',
    clause: 'call_tool, args',
    says: 'The third argument is required',
    differs: 'CONFORMANCE.md, D2: it may be left out where the tool needs no input; the guide and every type show it',
  },
  {
    id: 'D2.7',
    clause: 'call_tool, returns',
    says: 'A call that went well returns `ok: true` and the result of the tool in `result`',
    test: [SCRIPT, 'returns structured content, text, and parsed text, and the failure of a tool as a value'],
  },
  {
    id: 'D2.8',
    clause: 'call_tool, returns',
    says: 'A call that failed returns `ok: false` with `error.message`',
    test: [SCRIPT, 'returns structured content, text, and parsed text, and the failure of a tool as a value'],
  },
  {
    id: 'D2.9',
    clause: 'call_tool, returns',
    says: '`error.code` may be there; we always give one',
    test: [SCRIPT, 'answers call_tool(%s) with %s'],
  },
  {
    id: 'D2.10',
    clause: 'call_tool, example',
    says: 'Fields of the result are read as `res.result.name`, also where the tool answered with JSON as text',
    test: [SCRIPT, 'call_tool with both branches'],
  },
  {
    id: 'D2.11',
    clause: 'call_tool, error handling',
    says: 'A script that finds `ok` false can return the message and come to its right end',
    test: [SCRIPT, 'answers call_tool(%s) with %s'],
  },
  {
    id: 'D2.12',
    clause: 'Full Request, example',
    says: 'The printed request with `var`, `call_tool` and a conditional `return` works as it is',
    test: [SCRIPT, 'full request with options: a tool, and a return at top level'],
  },
  {
    id: 'D2.13',
    clause: 'CLI patterns, script',
    says: 'Calls inside `map` and `filter` callbacks work, since nothing is awaited',
    test: [SCRIPT, 'several calls in a loop, old syntax and new'],
  },
  {
    id: 'D2.14',
    clause: 'call_tool, returns',
    says: 'Arguments that cannot be sent (a cycle, a BigInt) are answered with `ok: false` too',
    test: ['conformance/code-execution/errors.test.ts', 'never throws for bad arguments: %s'],
  },
  {
    id: 'D2.15',
    clause: 'call_tool, Error Codes',
    says: 'A failed call has one of the codes of the document',
    differs: 'CONFORMANCE.md, D2: a call that needs a person and cannot ask one is answered with APPROVAL_REQUIRED',
  },

  // D3: the script, its input and its value
  {
    id: 'D3.1',
    clause: 'Basic Request, example',
    says: 'The value of a script is that of its last expression',
    test: [
      [SCRIPT, 'basic request: the value of the last expression'],
      [VALUES, 'is that of its last expression, as in other engines (${SCRIPTS.length} scripts)'],
    ],
  },
  {
    id: 'D3.2',
    clause: 'Full Request, call_tool, examples',
    says: 'A `return` at top level, also inside `if`, gives the value',
    test: [VALUES, 'is what it returns at its top level: %s'],
  },
  {
    id: 'D3.3',
    clause: 'Request Parameters, code',
    says: 'Syntax of ES2020 and newer is understood',
    test: [VALUES, 'is what it returns at its top level: %s'],
  },
  {
    id: 'D3.4',
    clause: 'Global Variables, input',
    says: '`input` of the request is a global of the script',
    test: [SCRIPT, 'basic request: the value of the last expression'],
  },
  {
    id: 'D3.5',
    clause: 'Global Variables, input',
    says: '`input` is a plain object whose properties are read as they were sent',
    test: [SCRIPTS, 'has its input as a plain value, whatever its keys are'],
  },
  {
    id: 'D3.6',
    clause: 'Request Parameters, input',
    says: '`input` may be left out and is `{}` then',
    test: [CONTRACT, 'a missing option has its default, and 0 calls means no limit'],
  },
  {
    id: 'D3.7',
    clause: 'Input Validation',
    says: '`input` must be a JSON object; anything else is refused',
    test: [TOOL, 'a request that is malformed is refused with the field'],
  },
  {
    id: 'D3.8',
    clause: 'Input Validation, size',
    says: 'The size of `input` has an upper bound',
    test: [SCRIPTS, 'takes an input of megabytes, and has it again after a restart'],
  },
  {
    id: 'D3.9',
    clause: 'Code Validation, type',
    says: '`code` must be a string; anything else is refused',
    test: [CONTRACT, '%j'],
  },
  {
    id: 'D3.10',
    clause: 'Code Validation, required',
    says: 'A request without `code` is refused',
    test: [TOOL, 'a request that is malformed is refused with the field'],
  },
  {
    id: 'D3.11',
    clause: 'Available Features, console',
    says: '`console.log` is there and writes to the log of the server',
    test: [TOOL, 'console output goes to the log with the id of the run, and not into the answer'],
  },
  {
    id: 'D3.12',
    clause: 'Available Features, objects',
    says: '`Object.keys`, `Object.create` and `Object.defineProperty` are there',
    test: [
      [SCRIPTS, 'has its input as a plain value, whatever its keys are'],
      [VALUES, 'gives way to data, and to nothing that a script has patched: %s'],
    ],
  },
  {
    id: 'D3.13',
    clause: 'Available Features, arrays',
    says: '`map` and `filter` of arrays are there',
    test: [SCRIPT, 'several calls in a loop, old syntax and new'],
  },
  {
    id: 'D3.14',
    clause: 'Available Features, arrays',
    says: '`Array.isArray`, `reduce` and `forEach` are there',
    test: ['conformance/code-execution/script.test.ts', '%s'],
  },
  {
    id: 'D3.15',
    clause: 'Available Features, strings',
    says: '`split`, `trim`, `indexOf` and `substring` of strings are there',
    test: ['conformance/code-execution/script.test.ts', '%s'],
  },
  {
    id: 'D3.16',
    clause: 'Available Features, Math',
    says: '`Math.random` is there',
    test: [SCRIPTS, 'comes out the same when its journal is played again, from text'],
  },
  {
    id: 'D3.17',
    clause: 'Available Features, Math',
    says: '`Math.round`, `Math.floor` and `Math.max` are there',
    test: ['conformance/code-execution/script.test.ts', '%s'],
  },
  {
    id: 'D3.18',
    clause: 'Available Features, Date',
    says: '`new Date()` and `Date.now()` are there',
    test: [SCRIPTS, 'comes out the same when its journal is played again, from text'],
  },
  {
    id: 'D3.19',
    clause: 'Available Features, Date',
    says: '`getTime` and `toISOString` of dates are there',
    test: ['conformance/code-execution/script.test.ts', '%s'],
  },
  {
    id: 'D3.20',
    clause: 'Available Features, JSON',
    says: '`JSON.parse` and `JSON.stringify` are there',
    test: [
      [VALUES, 'gives way to data, and to nothing that a script has patched: %s'],
      [SCRIPTS, 'ends the script where the host says so, and nothing of it runs any more: %s'],
    ],
  },
  {
    id: 'D3.21',
    clause: 'Type Conversions',
    says: '`parseInt` and `parseFloat` make numbers of strings',
    test: ['conformance/code-execution/script.test.ts', '%s'],
  },
  {
    id: 'D3.22',
    clause: 'Type Conversions',
    says: '`toString` and `toFixed` make strings of numbers',
    test: ['conformance/code-execution/script.test.ts', '%s'],
  },
  {
    id: 'D3.23',
    clause: 'Type Conversions',
    says: '`Boolean(value)` and `!!value` make booleans',
    test: ['conformance/code-execution/script.test.ts', '%s'],
  },
  {
    id: 'D3.24',
    clause: 'Type Conversions',
    says: '`typeof value === "object"` and `Array.isArray` tell objects and arrays apart',
    test: ['conformance/code-execution/script.test.ts', '%s'],
  },

  // D4: TypeScript
  {
    id: 'D4.1',
    clause: 'Tool Schema, language',
    says: 'With `language: "typescript"` the types are gone before the script runs',
    test: [VALUES, 'is the same in TypeScript, whose types are gone when it runs'],
  },
  {
    id: 'D4.2',
    clause: 'TypeScript Request, example',
    says: 'The printed request works as it is',
    test: [SCRIPT, 'TypeScript request'],
  },
  {
    id: 'D4.3',
    clause: 'Request Parameters, language',
    says: '`language` may be left out; the source is JavaScript then, and types in it a syntax error',
    test: [SCRIPT, 'points into the TypeScript that was sent'],
  },
  {
    id: 'D4.4',
    clause: 'Request Parameters, language',
    says: 'Any other language is refused',
    test: [TOOL, 'a request that is malformed is refused with the field'],
  },

  // D5: failures
  {
    id: 'D5.1',
    clause: 'Error Response',
    says: 'A failure has `ok: false` and `error` with `code`, `message` and `stack`, all strings',
    test: [SCRIPT, 'a runtime error, with a stack'],
  },
  {
    id: 'D5.2',
    clause: 'Response Fields, error.code',
    says: 'A script that failed has one of six codes',
    test: [RENDER, 'each failure has its code, and a stack only where something was thrown: %j'],
  },
  {
    id: 'D5.3',
    clause: 'Response Fields, error.message',
    says: '`message` is for people to read',
    test: [SCRIPT, 'a runtime error, with a stack'],
  },
  {
    id: 'D5.4',
    clause: 'Response Fields, error.stack',
    says: '`stack` is filled for runtime errors that an Error was thrown for, and empty for all others',
    test: [RENDER, 'each failure has its code, and a stack only where something was thrown: %j'],
  },
  {
    id: 'D5.5',
    clause: 'Error Code Reference, SYNTAX_ERROR',
    says: 'Source that cannot be read is `SYNTAX_ERROR`',
    test: [SCRIPT, 'a syntax error'],
  },
  {
    id: 'D5.6',
    clause: 'Error Examples, SYNTAX_ERROR',
    says: 'Its message begins with `SyntaxError: `, its stack is empty',
    test: [SCRIPT, 'a syntax error'],
  },
  {
    id: 'D5.7',
    clause: 'Error Examples, SYNTAX_ERROR',
    says: 'The rest of the message has the words of the example',
    differs: 'CONFORMANCE.md, D5: the words are those of our parser, which name line and column and show the line',
  },
  {
    id: 'D5.8',
    clause: 'Error Code Reference, RUNTIME_ERROR',
    says: 'An exception that nobody caught is `RUNTIME_ERROR`',
    test: [SCRIPT, 'a runtime error, with a stack'],
  },
  {
    id: 'D5.9',
    clause: 'Error Examples, RUNTIME_ERROR',
    says: 'Its message begins with the class of the error and names the property and what it was read from',
    test: [SCRIPT, 'a runtime error, with a stack'],
  },
  {
    id: 'D5.10',
    clause: 'Error Examples, RUNTIME_ERROR',
    says: 'Its stack has line and column of the source',
    test: [SCRIPT, 'a runtime error, with a stack'],
  },
  {
    id: 'D5.11',
    clause: 'Error Examples, RUNTIME_ERROR',
    says: 'Message and frame are spelt as printed: `Cannot read ...`, `at <eval>:1:17`',
    differs:
      'CONFORMANCE.md, D5: message and frame have this form (conformance/code-execution/errors.test.ts); the column is 15, as our engine counts',
  },
  {
    id: 'D5.12',
    clause: 'Error Code Reference, TIMEOUT',
    says: 'A script that takes longer than `timeout_ms` is `TIMEOUT`, also inside a call',
    test: [
      [SCRIPT, 'a timeout'],
      [SCRIPT, 'blocks the script until the tool has answered, whose time is over in the middle of it'],
    ],
  },
  {
    id: 'D5.13',
    clause: 'Error Examples, TIMEOUT',
    says: 'Message and empty stack are those of the example, for an endless loop with 1000 ms',
    test: [SCRIPT, 'a timeout'],
  },
  {
    id: 'D5.14',
    clause: 'Error Code Reference, MAX_TOOL_CALLS_EXCEEDED',
    says: 'One call more than `max_tool_calls` is `MAX_TOOL_CALLS_EXCEEDED`',
    test: [SCRIPT, 'too many calls'],
  },
  {
    id: 'D5.15',
    clause: 'Error Examples, MAX_TOOL_CALLS_EXCEEDED',
    says: 'Its message has the words of the example with the limit in it, its stack is empty',
    test: [SCRIPT, 'too many calls'],
  },
  {
    id: 'D5.16',
    clause: 'Error Code Reference, SERVER_NOT_ALLOWED',
    says: 'A call of a server outside `allowed_servers` is `SERVER_NOT_ALLOWED`',
    test: [SCRIPT, 'a server that is not allowed'],
  },
  {
    id: 'D5.17',
    clause: 'Error Examples, SERVER_NOT_ALLOWED',
    says: 'It ends the script, with the words of the example and the name in them, and an empty stack',
    test: [SCRIPT, 'a server that is not allowed'],
  },
  {
    id: 'D5.18',
    clause: 'Error Code Reference, SERIALIZATION_ERROR',
    says: 'A value that is not JSON is `SERIALIZATION_ERROR`',
    test: [SCRIPT, NOT_JSON],
  },
  {
    id: 'D5.19',
    clause: 'Error Examples, SERIALIZATION_ERROR',
    says: 'Message and empty stack are those of the example, for a function inside an object',
    test: [SCRIPT, NOT_JSON],
  },
  {
    id: 'D5.20',
    clause: 'Error Code Reference, causes',
    says: 'Limits and forbidden servers end the script; it cannot catch them',
    test: [SCRIPT, '%s cannot be swallowed'],
  },
  {
    id: 'D5.21',
    clause: 'Code Validation, syntax',
    says: 'Source with a mistake in it is refused whole: no part of it runs',
    test: [SCRIPTS, 'as no script at all, it runs no part of it: %s'],
  },

  // D6: options
  {
    id: 'D6.1',
    clause: 'Request Parameters, options',
    says: '`options` and each of its fields may be left out',
    test: [CONTRACT, 'a missing option has its default, and 0 calls means no limit'],
  },
  {
    id: 'D6.2',
    clause: 'Options Object, timeout_ms',
    says: 'Without `timeout_ms` a script has 120000 ms',
    test: [
      'src/profiles/code-execution/settings.test.ts',
      'scripts have 120 s and a pool of ten where nothing is set, and no list of servers',
    ],
  },
  {
    id: 'D6.3',
    clause: 'Options Validation, timeout_ms',
    says: '`timeout_ms` below 1 or above 600000 is refused',
    test: [
      [TOOL, 'a request that is malformed is refused with the field'],
      [CONTRACT, '%j'],
    ],
  },
  {
    id: 'D6.4',
    clause: 'Options Object, timeout_ms',
    says: '`timeout_ms` is any number of the range',
    test: [
      'conformance/code-execution/errors.test.ts',
      'takes fractions, and arguments that it does not know and that resemble none',
    ],
  },
  {
    id: 'D6.5',
    clause: 'Options Object, max_tool_calls',
    says: 'Without `max_tool_calls` the number of calls has no limit',
    test: [
      [LOAD, 'the proxy file of the code_execution contract is read with --config'],
      [CONTRACT, 'a missing option has its default, and 0 calls means no limit'],
    ],
  },
  {
    id: 'D6.6',
    clause: 'Options Object, max_tool_calls',
    says: 'So many calls pass and no more; 0 is no limit',
    test: [SCRIPT, 'makes no more calls than the limit allows, and 0 means no limit'],
  },
  {
    id: 'D6.7',
    clause: 'Options Validation, max_tool_calls',
    says: '`max_tool_calls` below 0 is refused',
    test: [CONTRACT, '%j'],
  },
  {
    id: 'D6.8',
    clause: 'Options Object, max_tool_calls',
    says: '`max_tool_calls` is any number from 0 on',
    test: [
      'conformance/code-execution/errors.test.ts',
      'takes fractions, and arguments that it does not know and that resemble none',
    ],
  },
  {
    id: 'D6.9',
    clause: 'Options Object, allowed_servers',
    says: 'Without `allowed_servers`, and with an empty list, every server may be called',
    test: [SCRIPT, 'makes no more calls than the limit allows, and 0 means no limit'],
  },
  {
    id: 'D6.10',
    clause: 'Options Object, allowed_servers',
    says: 'With names in the list, these servers may be called and no other',
    test: [
      ['attacks/script-calls.test.ts', 'and still calls that one'],
      ['attacks/script-calls.test.ts', '%s'],
    ],
  },
  {
    id: 'D6.11',
    clause: 'Options Validation, allowed_servers',
    says: '`allowed_servers` must be an array of strings',
    test: [CONTRACT, '%j'],
  },
  {
    id: 'D6.12',
    clause: 'Per-Request Overrides',
    says: '`timeout_ms` of a request goes before the configured one',
    test: [TOOL, 'come from the request, else from the configuration'],
  },
  {
    id: 'D6.13',
    clause: 'Per-Request Overrides',
    says: '`max_tool_calls` of a request goes before the configured one',
    test: [TOOL, 'come from the request, else from the configuration'],
  },
  {
    id: 'D6.14',
    clause: 'Per-Request Overrides',
    says: '`allowed_servers` comes from requests alone: the configuration has no such key',
    test: [
      'src/profiles/code-execution/settings.test.ts',
      'scripts have 120 s and a pool of ten where nothing is set, and no list of servers',
    ],
  },
  {
    id: 'D6.15',
    clause: 'Per-Request Overrides, priority',
    says: 'What the configuration says goes before the built-in default',
    test: [EXEC, FROM_CONFIG],
  },

  // D7: what is not there
  { id: 'D7.1', clause: 'Not Available, modules', says: 'There is no `require`', test: [SCRIPT, NO_WORLD] },
  {
    id: 'D7.2',
    clause: 'Not Available, modules',
    says: '`import` and `export` are syntax errors, `import()` finds nothing',
    test: [SCRIPT, NO_WORLD],
  },
  {
    id: 'D7.3',
    clause: 'Not Available, timers',
    says: 'There is no `setTimeout`, `setInterval` or `setImmediate`',
    test: [SCRIPT, NO_WORLD],
  },
  {
    id: 'D7.4',
    clause: 'Not Available, filesystem',
    says: 'There is no `fs` and no other way to files',
    test: [SCRIPTS, 'makes no code from strings and loads no modules'],
  },
  {
    id: 'D7.5',
    clause: 'Not Available, network',
    says: 'There is no `fetch`, no `http` and no other way to the network',
    test: [
      [SCRIPT, NO_WORLD],
      [SCRIPTS, 'has no %s'],
    ],
  },
  {
    id: 'D7.6',
    clause: 'Not Available, process',
    says: 'There is no `process` and no environment',
    test: [SCRIPT, NO_WORLD],
  },
  {
    id: 'D7.7',
    clause: 'Not Available, Node.js APIs',
    says: 'There is no `Buffer` or other API of Node',
    test: [SCRIPT, NO_WORLD],
  },

  // D8: values
  {
    id: 'D8.1',
    clause: 'Code Validation, serialization',
    says: 'The value must be JSON, at every depth',
    test: [VALUES, 'is refused at any depth: %s'],
  },
  {
    id: 'D8.2',
    clause: 'Return Value Validation, valid',
    says: '`null`, booleans, numbers and strings are values',
    test: [SCRIPT, IS_JSON],
  },
  { id: 'D8.3', clause: 'Return Value Validation, valid', says: 'Arrays are values', test: [SCRIPT, IS_JSON] },
  {
    id: 'D8.4',
    clause: 'Return Value Validation, valid',
    says: 'Objects, nested ones too, are values',
    test: [SCRIPT, IS_JSON],
  },
  {
    id: 'D8.5',
    clause: 'Return Value Validation, invalid',
    says: 'A function is not a value',
    test: [SCRIPT, NOT_JSON],
  },
  {
    id: 'D8.6',
    clause: 'Return Value Validation, invalid',
    says: '`undefined` is not a value',
    test: [SCRIPT, NOT_JSON],
  },
  {
    id: 'D8.7',
    clause: 'Return Value Validation, invalid',
    says: 'An object that contains itself is not a value, as in the example',
    test: [SCRIPT, NOT_JSON],
  },
  {
    id: 'D8.8',
    clause: 'Return Value Validation, invalid',
    says: 'Dates and regular expressions are not values',
    test: [SCRIPT, NOT_JSON],
  },
  {
    id: 'D8.9',
    clause: 'Return Value Validation, invalid',
    says: 'Their `toString()` or `toISOString()` is a value',
    test: ['conformance/code-execution/script.test.ts', '%s'],
  },

  // D9: configuration
  {
    id: 'D9.1',
    clause: 'Global Configuration',
    says: 'The command reads `~/.mcpproxy/mcp_config.json`',
    test: [EXEC, FROM_FILES],
  },
  {
    id: 'D9.2',
    clause: 'Global Configuration',
    says: 'The server reads `~/.mcpproxy/mcp_config.json` too',
    test: ['e2e/scripts/code-exec.test.ts', 'is found by the server of the contract too'],
  },
  {
    id: 'D9.3',
    clause: 'Configuration Fields, enable_code_execution',
    says: 'Without `enable_code_execution: true` in that file the feature is off',
    test: [EXEC, 'is off unless its key says otherwise, for the command and for the server'],
  },
  {
    id: 'D9.4',
    clause: 'Configuration Fields, enable_code_execution',
    says: '`enable_code_execution` is a boolean',
    test: [EXEC, OUT_OF_RANGE],
  },
  {
    id: 'D9.5',
    clause: 'Configuration Fields, code_execution_timeout_ms',
    says: '`code_execution_timeout_ms` is the timeout where a request has none',
    test: [EXEC, FROM_CONFIG],
  },
  {
    id: 'D9.6',
    clause: 'Configuration Fields, code_execution_timeout_ms',
    says: 'It is 120000 where the file has none',
    test: [
      'src/profiles/code-execution/settings.test.ts',
      'scripts have 120 s and a pool of ten where nothing is set, and no list of servers',
    ],
  },
  {
    id: 'D9.7',
    clause: 'Configuration Fields, code_execution_timeout_ms',
    says: 'It lies between 1 and 600000',
    test: [EXEC, OUT_OF_RANGE],
  },
  {
    id: 'D9.8',
    clause: 'Configuration Fields, code_execution_max_tool_calls',
    says: '`code_execution_max_tool_calls` is the limit on calls where a request has none',
    test: [EXEC, FROM_CONFIG],
  },
  {
    id: 'D9.9',
    clause: 'Configuration Fields, code_execution_max_tool_calls',
    says: 'It is 0, no limit, where the file has none',
    test: [LOAD, 'the proxy file of the code_execution contract is read with --config'],
  },
  {
    id: 'D9.10',
    clause: 'Configuration Fields, code_execution_pool_size',
    says: '`code_execution_pool_size` is the number of scripts that run at once',
    test: [
      [LOAD, 'the proxy file of the code_execution contract is read with --config'],
      [POOL, PLACES],
    ],
  },
  {
    id: 'D9.11',
    clause: 'Configuration Fields, code_execution_pool_size',
    says: 'It is 10 where the file has none',
    test: [
      'src/profiles/code-execution/settings.test.ts',
      'scripts have 120 s and a pool of ten where nothing is set, and no list of servers',
    ],
  },
  {
    id: 'D9.12',
    clause: 'Configuration Fields, code_execution_pool_size',
    says: 'It lies between 1 and 100',
    test: [EXEC, OUT_OF_RANGE],
  },
  {
    id: 'D9.13',
    clause: 'Performance, Pool Size',
    says: 'Scripts beyond the size of the pool wait their turn',
    test: [POOL, PLACES],
  },
  {
    id: 'D9.14',
    clause: 'Performance, Pool Size',
    says: 'A pool of one runs scripts one after the other',
    test: ['e2e/scripts/pool.test.ts', 'a pool of one runs scripts one after the other'],
  },
  {
    id: 'D9.15',
    clause: 'Performance, Pool Size',
    says: 'A larger pool takes more memory',
    measured: '`npm run bench:load`: memory of all processes; each script has one of its own',
  },
  {
    id: 'D9.16',
    clause: 'Configuration Fields, enable_code_execution',
    says: 'The feature is off by default',
    differs:
      'CONFORMANCE.md, D9: in a file of our own format `profile: code_execution` switches the contract on, and `codeExecution.enabled: false` off.',
  },

  // D10: the command line
  {
    id: 'D10.1',
    clause: 'Command',
    says: '`code exec` runs a script without a client of MCP',
    test: [EXEC, 'prints what the script returned, indented, and exits with 0'],
  },
  {
    id: 'D10.2',
    clause: 'Flags, --code',
    says: '`--code` is the source of the script',
    test: [EXEC, 'prints what the script returned, indented, and exits with 0'],
  },
  { id: 'D10.3', clause: 'Flags, --file', says: '`--file` names a file with the script', test: [EXEC, FROM_FILES] },
  {
    id: 'D10.4',
    clause: 'Flags, --code and --file',
    says: 'One of `--code` and `--file` must be given',
    test: [EXEC, BAD_FLAGS],
  },
  {
    id: 'D10.5',
    clause: 'Flags, --input',
    says: '`--input` is the input as a JSON string',
    test: [EXEC, 'prints what the script returned, indented, and exits with 0'],
  },
  {
    id: 'D10.6',
    clause: 'Flags, --input',
    says: 'Without it the input is `{}`',
    test: [
      'e2e/scripts/code-exec.test.ts',
      'without an input it has {}, and each of the allowed servers may be called',
    ],
  },
  {
    id: 'D10.7',
    clause: 'Flags, --input-file',
    says: '`--input-file` names a JSON file with the input',
    test: [EXEC, FROM_FILES],
  },
  { id: 'D10.8', clause: 'Flags, --timeout', says: '`--timeout` is the timeout in milliseconds', test: [EXEC, FAILS] },
  {
    id: 'D10.9',
    clause: 'Flags, --timeout',
    says: '`--timeout` outside 1 to 600000 is refused',
    test: [EXEC, BAD_FLAGS],
  },
  {
    id: 'D10.10',
    clause: 'Flags, --timeout',
    says: 'Without it, and without a configured one, it is 120000',
    test: [
      'src/profiles/code-execution/settings.test.ts',
      'scripts have 120 s and a pool of ten where nothing is set, and no list of servers',
    ],
  },
  {
    id: 'D10.11',
    clause: 'Flags, --max-tool-calls',
    says: '`--max-tool-calls` is the limit on calls',
    test: [EXEC, FAILS],
  },
  {
    id: 'D10.12',
    clause: 'Flags, --max-tool-calls',
    says: '`--max-tool-calls 0` is no limit',
    test: [EXEC, FROM_CONFIG],
  },
  {
    id: 'D10.13',
    clause: 'Flags, --allowed-servers',
    says: '`--allowed-servers` keeps the script from all other servers',
    test: [EXEC, FAILS],
  },
  {
    id: 'D10.14',
    clause: 'Flags, --allowed-servers',
    says: 'Its names have commas between them, and each of them may be called',
    test: [
      'e2e/scripts/code-exec.test.ts',
      'without an input it has {}, and each of the allowed servers may be called',
    ],
  },
  {
    id: 'D10.15',
    clause: 'Flags, --log-level',
    says: '`--log-level` is the least level that is written',
    test: [EXEC, 'what the script logs goes to stderr, filtered by the log level'],
  },
  {
    id: 'D10.16',
    clause: 'Flags, --log-level',
    says: 'The levels are trace, debug, info, warn and error',
    test: [EXEC, BAD_FLAGS],
  },
  {
    id: 'D10.17',
    clause: 'Flags, --log-level',
    says: 'Without it the level is info',
    test: [EXEC, 'what the script logs goes to stderr, filtered by the log level'],
  },
  {
    id: 'D10.18',
    clause: 'Flags, --config',
    says: '`--config` names the configuration file',
    test: [EXEC, 'is read from the named path, with servers as a list or a map, without disabled ones'],
  },
  {
    id: 'D10.19',
    clause: 'Flags, --config',
    says: 'Without it the file of the home folder counts',
    test: [EXEC, FROM_FILES],
  },
  {
    id: 'D10.20',
    clause: 'Exit Codes',
    says: 'Status 0: the script came to its end',
    test: [EXEC, 'prints what the script returned, indented, and exits with 0'],
  },
  {
    id: 'D10.21',
    clause: 'Exit Codes',
    says: 'Status 1: it failed, by syntax, exception, time or any other of the codes',
    test: [EXEC, FAILS],
  },
  { id: 'D10.22', clause: 'Exit Codes', says: 'Status 2: bad arguments', test: [EXEC, BAD_FLAGS] },
  { id: 'D10.23', clause: 'Exit Codes', says: 'Status 2: bad configuration', test: [EXEC, OUT_OF_RANGE] },
  {
    id: 'D10.24',
    clause: 'Examples',
    says: 'A call of a tool works from the command line, its answer being the value',
    test: [EXEC, FROM_FILES],
  },
  {
    id: 'D10.25',
    clause: 'Output Format, success',
    says: 'A success is printed as indented JSON, two spaces a level',
    test: [EXEC, 'prints what the script returned, indented, and exits with 0'],
  },
  { id: 'D10.26', clause: 'Output Format, failure', says: 'A failure is printed in the same way', test: [EXEC, FAILS] },
  {
    id: 'D10.27',
    clause: 'CLI patterns',
    says: 'The printed sum of two inputs works as it is',
    test: [EXEC, 'prints what the script returned, indented, and exits with 0'],
  },
  {
    id: 'D10.28',
    clause: 'CLI patterns',
    says: 'A script that throws, and one that never ends, are answered with their codes',
    test: [EXEC, FAILS],
  },
  {
    id: 'D10.29',
    clause: 'CLI patterns, script',
    says: 'The printed script file with `const`, arrows and a top-level `return` runs with `--file`',
    test: [
      [EXEC, FROM_FILES],
      [SCRIPT, 'several calls in a loop, old syntax and new'],
    ],
  },
];
