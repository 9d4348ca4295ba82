import type { Statement } from './statement.js';

const CONTRACT = 'e2e/runner/contract.test.ts';
const DOCUMENT = 'e2e/runner/document.test.ts';
const INPUT = 'e2e/runner/input.test.ts';
const MCP = 'e2e/mcp/runner.test.ts';
const APPROVALS = 'e2e/runner/approvals.test.ts';
const REPLAY = 'e2e/runner/replay.test.ts';
const PROGRAMS = 'sandbox/runtimes-programs.test.ts';
const PACKAGES = 'sandbox/runtimes-packages.test.ts';
const CORPUS = 'corpus/packages.test.ts';
const NAMES = 'src/catalog/package-names.test.ts';
const LIMITS = 'attacks/runner-limits.test.ts';
const ESCAPE = 'attacks/runtimes-escape.test.ts';
const HOSTILE = 'attacks/runner.test.ts';
const POLICY = 'e2e/runs/policy.test.ts';
const AUDIT = 'e2e/cli/audit.test.ts';
const AUTH = 'e2e/cli/auth.test.ts';
const SECRETS = 'attacks/secrets.test.ts';
const MEASURE = 'e2e/cli/measure.test.ts';
const SELF_CORRECTION = 'e2e/library/self-correction.test.ts';

const ONE_LINE = 'prints one line with digests that can be recomputed, and everything else on stderr';
const FIELDS = 'the envelope has the fields of the contract, and the results of its own runner';
const FAILS = 'one that %s is one line too, with its error';
const CALLS = 'calls tools by modules and by the client, and gets MCP results, errors and plain values';
const CATALOG = 'has a catalog: manifest first, definitions on demand, and a suggestion for a wrong name';
const DEFINITION = 'the catalog answers the questions of the contract, with all that a definition has';
const BOTH_NODE = 'a program in TypeScript and one in JavaScript call a server by its module';
const OWN_LOOP = 'a program in Python runs its own loop, and sets its result from within';
const WRAPPERS = 'wrappers in Python call by server and protocol name, generated ones too';
const LAST_LINE = 'prints the last value where there is no result; another exit status is a failure';
const TOO_LARGE = 'a result that is too large is an error that says its size, and longer output is cut';
const REDACTED = 'secrets and personal data are redacted in all output; programs still see addresses';
const MODULES = 'have every tool of every page by the name of its language, and check what goes in and out';
const NOTHING_OF_HOST = 'finds no network, no Docker socket, and no file or variable of the host';
const ADDED = 'a tool that its server has added is in the modules of the next %s program';
const RECORD = 'records are shown, filtered, verified, exported; a change is found and calls are refused';
const MEASURED = 'counts tokens of the user’s servers, tries search on tasks, times real starts and runs';
const TRACED = 'says the id of its trace in the envelope, with and without a collector';
const REPLAYED = 'a recorded %s program is run again offline, and says where it goes another way';
const RULES = 'the prompt has every rule of the contract';
const LOGIN = 'a person logs in by browser, programs call tools, a running host notices, logout revokes';

/** Document B, statement by statement. The words are ours. */
export const RUNNER_STATEMENTS: readonly Statement[] = [
  // B1: source in, one line out
  {
    id: 'B1.1',
    clause: 'Output Contract',
    says: 'Standard output is exactly one object of JSON on one line',
    test: [CONTRACT, ONE_LINE],
  },
  {
    id: 'B1.2',
    clause: 'Output Contract',
    says: 'Logs, progress and debugging output are on stderr',
    test: [CONTRACT, ONE_LINE],
  },
  {
    id: 'B1.3',
    clause: 'Success Criteria',
    says: 'The line is there and parses whatever the program does',
    test: [CONTRACT, FAILS],
  },
  {
    id: 'B1.4',
    clause: 'Decision Checklist, runtime contract',
    says: 'What a program itself prints to stdout does not get into the line',
    test: [CONTRACT, ONE_LINE],
  },
  {
    id: 'B1.5',
    clause: 'Anti-pattern: Mixing Logs',
    says: 'A program that writes to every descriptor cannot spoil the line',
    test: [CONTRACT, FAILS],
  },
  {
    id: 'B1.6',
    clause: 'Appendix A',
    says: 'The source comes on standard input, as UTF-8',
    test: [
      [CONTRACT, ONE_LINE],
      [INPUT, 'bytes that are no UTF-8'],
    ],
  },
  {
    id: 'B1.7',
    clause: 'Appendix A',
    says: 'An empty source is a program that does nothing and ends well',
    differs:
      'CONFORMANCE.md, B1: it is refused with InvalidInput, because an empty program is most likely a mistake of the sender',
  },
  {
    id: 'B1.8',
    clause: 'Supported Runtimes',
    says: 'There is a runner for Python and one for Node',
    test: [MCP, 'lists a tool for each interpreter there is, and tells the agent how to use them'],
  },
  {
    id: 'B1.9',
    clause: 'Supported Runtimes',
    says: 'Python is 3.11 or newer; an older one is refused',
    test: [INPUT, 'a Python that is missing or too old, with what to install; the other language runs on'],
  },
  {
    id: 'B1.10',
    clause: 'Supported Runtimes',
    says: 'Every Node from 20.0 on is supported',
    differs: 'CONFORMANCE.md, B1: 20.19 is the oldest Node that we support',
  },

  // B2: the envelope
  {
    id: 'B2.1',
    clause: 'Telemetry Envelope, example',
    says: 'The line has the ten fields of the document, in its order',
    test: [DOCUMENT, FIELDS],
  },
  { id: 'B2.2', clause: 'Telemetry Envelope', says: '`run_id` is an id of this run', test: [CONTRACT, ONE_LINE] },
  {
    id: 'B2.3',
    clause: 'Telemetry Envelope',
    says: '`trace_id` is the id of the trace, the same as in what is traced',
    test: ['e2e/cli/traces.test.ts', TRACED],
  },
  {
    id: 'B2.4',
    clause: 'Telemetry Envelope, Appendix A',
    says: '`tool_name` is `python-runner`, or `node-runner`',
    test: [CONTRACT, ONE_LINE],
  },
  {
    id: 'B2.5',
    clause: 'Telemetry Envelope',
    says: '`tool_version` may be there; we give our version',
    test: [CONTRACT, ONE_LINE],
  },
  {
    id: 'B2.6',
    clause: 'Appendix A, input_digest',
    says: '`input_digest` is `sha256:` and the hash of the source as UTF-8',
    test: [CONTRACT, ONE_LINE],
  },
  {
    id: 'B2.7',
    clause: 'Appendix A, _digest',
    says: '`output_digest` is that of `result` as compact JSON with sorted keys, as Python writes it',
    test: [CONTRACT, ONE_LINE],
  },
  {
    id: 'B2.8',
    clause: 'Telemetry Envelope',
    says: '`sandbox_image` may be there; it names interpreter, build and level of isolation',
    test: [CONTRACT, ONE_LINE],
  },
  {
    id: 'B2.9',
    clause: 'Telemetry Envelope',
    says: '`duration_ms` is a number, the same as in the metrics of the result',
    test: [CONTRACT, ONE_LINE],
  },
  {
    id: 'B2.10',
    clause: 'Telemetry Envelope',
    says: '`approval_state` is `NOT_REQUIRED` where nobody was asked',
    test: [CONTRACT, ONE_LINE],
  },
  {
    id: 'B2.11',
    clause: 'Telemetry Envelope',
    says: '`approval_state` says what became of the questions of the run',
    test: [
      [APPROVALS, 'waits while the user of the client is asked, and its time is paused'],
      [APPROVALS, 'is refused when the person takes longer than the configuration allows'],
    ],
  },
  {
    id: 'B2.12',
    clause: 'Telemetry Envelope',
    says: 'Only `result` can be large; the rest is small and stable',
    test: [CONTRACT, TOO_LARGE],
  },
  {
    id: 'B2.13',
    clause: 'Appendix A',
    says: 'The line is compact JSON with a line break at its end',
    test: [
      'conformance/runner/fine-print.test.ts',
      'gets text and structured content of an answer as one compact JSON line, on record',
    ],
  },

  // B3: the result
  {
    id: 'B3.1',
    clause: 'Result Contract',
    says: 'A success is `ok: true` with `data` and `metrics.duration_ms`',
    test: [CONTRACT, ONE_LINE],
  },
  {
    id: 'B3.2',
    clause: 'Result Contract',
    says: 'A failure is `ok: false` with `error` and `metrics`',
    test: [DOCUMENT, FIELDS],
  },
  {
    id: 'B3.3',
    clause: 'Result Contract',
    says: '`error` has `type`, `message` and `retryable`, and nothing else',
    test: [DOCUMENT, FIELDS],
  },
  {
    id: 'B3.4',
    clause: 'Appendix A',
    says: '`type` is the class of an exception that nobody caught',
    test: [CONTRACT, FAILS],
  },
  {
    id: 'B3.5',
    clause: 'Result Contract, example',
    says: 'A failed tool call that nobody caught is a `ToolError`',
    test: [CONTRACT, FAILS],
  },
  {
    id: 'B3.6',
    clause: 'Appendix A',
    says: 'An exception of the program is not retryable',
    test: [CONTRACT, FAILS],
  },
  {
    id: 'B3.7',
    clause: 'Self-Correction, is_retryable',
    says: 'A program that ran out of time is retryable, of the type `Timeout`',
    test: [CONTRACT, FAILS],
  },
  {
    id: 'B3.8',
    clause: 'Appendix A',
    says: 'The traceback of an exception is on stderr',
    test: [PROGRAMS, 'that throws fails with the line of its author, and a stack of nothing but such lines'],
  },

  // B4: files and imports
  {
    id: 'B4.1',
    clause: 'Filesystem & Imports',
    says: 'The working directory is `/workspace`',
    test: [CONTRACT, CALLS],
  },
  {
    id: 'B4.2',
    clause: 'Filesystem & Imports',
    says: 'Python imports a server as `import servers.<server_module>`',
    test: [CONTRACT, CALLS],
  },
  {
    id: 'B4.3',
    clause: 'Filesystem & Imports',
    says: 'Python imports a tool as `from servers.<server_module> import <tool_fn>`',
    test: [CONTRACT, CALLS],
  },
  {
    id: 'B4.4',
    clause: 'Filesystem & Imports',
    says: 'Node imports a server from `./servers/<server_module>/index.js`',
    test: [CONTRACT, CALLS],
  },
  {
    id: 'B4.5',
    clause: 'Filesystem & Imports',
    says: 'The layout is the same in every run',
    test: [
      'src/catalog/packages/packages.test.ts',
      'packages are made once for a snapshot and a language, and hold a module for each server',
    ],
  },
  {
    id: 'B4.6',
    clause: 'Filesystem & Imports',
    says: 'The path of a module is always there, also where a program makes its name up as it runs',
    test: [
      'src/catalog/packages/packages.test.ts',
      'a program gets the modules that it names, and all of them where it may look for others',
    ],
  },
  {
    id: 'B4.7',
    clause: 'Code Wrapper, example',
    says: 'A generated Python module of one tool can be imported: `servers.google_drive.get_document`',
    test: [DOCUMENT, WRAPPERS],
  },
  {
    id: 'B4.8',
    clause: 'Code Wrapper, example',
    says: '`client.mcp_client.call_tool` takes `server_id`, `name` and `arguments`',
    test: [DOCUMENT, WRAPPERS],
  },
  {
    id: 'B4.9',
    clause: 'Wrapper Stub (Node)',
    says: '`client/mcp_client.js` exports `callTool({ serverId, name, arguments })`',
    test: [CONTRACT, CALLS],
  },
  {
    id: 'B4.10',
    clause: 'Wrapper Stub (Node)',
    says: 'The printed stub works, once its parameter has a name that a module may have',
    test: [DOCUMENT, 'the wrapper in JavaScript works once its parameter has a name that a module may have'],
  },
  {
    id: 'B4.11',
    clause: 'Code MCP, example',
    says: 'A Node program may be TypeScript, with `await` at top level',
    test: [DOCUMENT, BOTH_NODE],
  },
  {
    id: 'B4.12',
    clause: 'Appendix A',
    says: 'A Python program may have `await` at its top level',
    test: [PROGRAMS, 'awaits at its top level, and calls tools one by one and all at once'],
  },
  {
    id: 'B4.13',
    clause: 'Data Filtering Workflow',
    says: 'A Python program may run its own loop with `asyncio.run(main())`',
    test: [PROGRAMS, 'may run its own event loop, and call tools without any'],
  },
  {
    id: 'B4.14',
    clause: 'Document Processing Workflow',
    says: 'The printed Node program works as it is, its helper given',
    test: ['e2e/runner/document.test.ts', 'a program in TypeScript and one in JavaScript call a server by its module'],
  },
  {
    id: 'B4.15',
    clause: 'Data Filtering Workflow',
    says: 'The printed Python program works as it is, its helpers given',
    test: ['e2e/runner/document.test.ts', 'a program in Python runs its own loop, and sets its result from within'],
  },
  {
    id: 'B4.16',
    clause: 'Decision Checklist, runtime contract',
    says: 'Imports are stable across sessions and models',
    test: [NAMES, 'a server keeps its module when another is added later, and an exact id wins'],
  },

  // B5: names
  {
    id: 'B5.1',
    clause: 'Naming Rules',
    says: 'Tool names are told apart by case',
    test: [NAMES, 'an exact name always wins, and the others are numbered in alphabetical order'],
  },
  {
    id: 'B5.2',
    clause: 'Naming Rules',
    says: 'Names are derived deterministically',
    test: [NAMES, 'an exact name always wins, and the others are numbered in alphabetical order'],
  },
  {
    id: 'B5.3',
    clause: 'Naming Rules, server_module',
    says: 'A server id becomes a module in snake_case: `google-drive` is `google_drive`',
    test: [PACKAGES, 'calls tools through the module of their server, under the name that the protocol knows'],
  },
  {
    id: 'B5.4',
    clause: 'Naming Rules, tool_fn',
    says: 'Python names are split at `.`, `_` and `-` and joined with `_`',
    test: [NAMES, '%s is %s and %s'],
  },
  {
    id: 'B5.5',
    clause: 'Naming Rules, tool_fn',
    says: 'A Python name is snake_case also where the tool is in camelCase or capitals',
    differs:
      'CONFORMANCE.md, B5: names are split where the contract says and nowhere else, since `getUser` and `get_user` are two tools',
  },
  {
    id: 'B5.6',
    clause: 'Naming Rules, toolFn',
    says: 'JavaScript names are split at `.`, `_` and `-` and joined in camelCase',
    test: [NAMES, '%s is %s and %s'],
  },
  {
    id: 'B5.7',
    clause: 'Naming Rules',
    says: 'A call carries the name that the protocol knows, unchanged',
    test: [CONTRACT, MODULES],
  },
  {
    id: 'B5.8',
    clause: 'Tool Name Guidance',
    says: 'Names with `_`, `-` and `.` are handled',
    test: [CONTRACT, MODULES],
  },
  {
    id: 'B5.9',
    clause: 'Tool Name Guidance',
    says: 'Names of 128 characters are handled',
    test: [
      [CONTRACT, MODULES],
      [NAMES, 'a name of 128 characters is kept whole'],
    ],
  },
  {
    id: 'B5.10',
    clause: 'Decision Checklist, wrapper codegen',
    says: 'Names that come out the same do not collide',
    test: [NAMES, 'an exact name always wins, and the others are numbered in alphabetical order'],
  },

  // B6: hand-over
  {
    id: 'B6.1',
    clause: 'Handoff',
    says: 'A Python program hands over its global `result`',
    test: [CONTRACT, ONE_LINE],
  },
  {
    id: 'B6.2',
    clause: 'Handoff',
    says: 'A Node program hands over `globalThis.result`',
    test: [CONTRACT, ONE_LINE],
  },
  {
    id: 'B6.3',
    clause: 'Handoff',
    says: 'That value is `data`',
    test: [CONTRACT, ONE_LINE],
  },
  {
    id: 'B6.4',
    clause: 'Handoff',
    says: 'The value has to be JSON; another one is an error',
    test: [CONTRACT, FAILS],
  },
  {
    id: 'B6.5',
    clause: 'Handoff',
    says: 'Without a value the last line of stdout counts, if it is JSON',
    test: [CONTRACT, LAST_LINE],
  },
  {
    id: 'B6.6',
    clause: 'Appendix A',
    says: 'Without either, `data` is `null`',
    test: [PROGRAMS, 'without a `result` hands over its last line, where that is JSON'],
  },
  {
    id: 'B6.7',
    clause: 'Document Processing Workflow',
    says: 'A program that sets a status other than 0 has failed',
    test: [CONTRACT, LAST_LINE],
  },
  {
    id: 'B6.8',
    clause: 'Data Filtering Workflow',
    says: '`global result` inside a function sets it',
    test: [DOCUMENT, OWN_LOOP],
  },

  // B7: sizes
  {
    id: 'B7.1',
    clause: 'Output Contract, limits',
    says: 'stdout has at most 64 KiB by default',
    test: [CONTRACT, TOO_LARGE],
  },
  {
    id: 'B7.2',
    clause: 'Output Contract, limits',
    says: 'stderr has at most 256 KiB by default',
    test: [CONTRACT, TOO_LARGE],
  },
  {
    id: 'B7.3',
    clause: 'Output Contract, limits',
    says: 'Other sizes need an explicit decision',
    test: ['conformance/runner/fine-print.test.ts', 'keeps to the sizes of the configuration'],
  },
  {
    id: 'B7.4',
    clause: 'Appendix A, _truncate',
    says: 'Longer stderr is cut and ends with the line `<TRUNCATED>`',
    test: [CONTRACT, TOO_LARGE],
  },
  {
    id: 'B7.5',
    clause: 'Output Contract, limits',
    says: 'A result too large for the line does not break it: an error takes its place',
    test: [CONTRACT, TOO_LARGE],
  },

  // B8: redaction
  {
    id: 'B8.1',
    clause: 'Output Contract',
    says: 'Secrets are taken out of stdout before it leaves',
    test: [CONTRACT, REDACTED],
  },
  {
    id: 'B8.2',
    clause: 'Output Contract',
    says: 'Secrets are taken out of stderr before it leaves',
    test: [CONTRACT, REDACTED],
  },
  {
    id: 'B8.3',
    clause: 'Output Contract',
    says: 'E-mail addresses, telephone and card numbers are taken out of both',
    test: [CONTRACT, REDACTED],
  },
  {
    id: 'B8.4',
    clause: 'Output Contract',
    says: 'Personal data of every kind is taken out',
    differs:
      'docs/security/calls-and-approvals.md, not covered: names and postal addresses stay, and so do social security numbers without dashes; by their form they are not told from other words and numbers',
  },
  {
    id: 'B8.5',
    clause: 'Testing Strategies, security',
    says: 'A secret at the place where output is cut does not leak by half',
    test: [HOSTILE, 'does not get half a secret out where its output is cut'],
  },
  {
    id: 'B8.6',
    clause: 'Output Contract',
    says: 'IBANs, social security numbers with dashes and card numbers that are JSON numbers are taken out',
    test: [CONTRACT, REDACTED],
  },

  // B9: isolation
  {
    id: 'B9.1',
    clause: 'Sandbox Security',
    says: 'Programs run in isolation by the operating system',
    test: [ESCAPE, 'finds no file, process, network, name or credential of the host'],
  },
  {
    id: 'B9.2',
    clause: 'Anti-pattern: Language-Level Sandboxing',
    says: 'The language is no boundary: native code that asks the kernel is stopped too',
    test: [ESCAPE, 'is ended at the first try of %s'],
  },
  {
    id: 'B9.3',
    clause: 'Agent Contract, priority',
    says: 'A level of isolation that was asked for is not replaced by less, and going without is never chosen by itself',
    test: [
      ['e2e/cli/jail-hosts.test.ts', 'a machine without user namespaces gets no weaker jail, but the reasons'],
      ['e2e/cli/go-command.test.ts', 'runs nothing where the isolation that is asked for cannot be had'],
    ],
  },
  {
    id: 'B9.4',
    clause: 'Code MCP, excludes',
    says: 'Untrusted code does not run on the host; without a jail it needs two explicit keys',
    test: ['e2e/cli/run-command.test.ts', 'is refused with status 69 and what to do, unless both keys are given'],
  },
  {
    id: 'B9.5',
    clause: 'Sandbox Security',
    says: 'Time is limited, and the limit is seen to fire',
    test: ['attacks/runtimes-exhaustion.test.ts', 'that computes forever is stopped by the clock'],
  },
  {
    id: 'B9.6',
    clause: 'Sandbox Security',
    says: 'CPU time is limited, over all processes',
    test: [LIMITS, 'that computes in many processes is stopped by the CPU time of all of them'],
  },
  {
    id: 'B9.7',
    clause: 'Sandbox Security',
    says: 'Memory is limited',
    test: [LIMITS, 'that takes all memory is stopped'],
  },
  {
    id: 'B9.8',
    clause: 'Sandbox Security',
    says: 'Disk and files are limited',
    test: [LIMITS, 'that fills its disk, and opens files without end, is refused more'],
  },
  {
    id: 'B9.9',
    clause: 'Decision Checklist, isolation',
    says: 'The number of processes is limited',
    test: [LIMITS, 'that starts processes without end is refused them'],
  },
  {
    id: 'B9.10',
    clause: 'Sandbox Security; Anti-pattern: docker.sock',
    says: 'No Docker socket can be reached',
    test: [LIMITS, NOTHING_OF_HOST],
  },
  {
    id: 'B9.11',
    clause: 'Network Modes, mode A',
    says: 'A program has no way out to the network',
    test: [LIMITS, NOTHING_OF_HOST],
  },
  {
    id: 'B9.12',
    clause: 'Network Modes',
    says: 'One network mode is used, never a mixture',
    test: [ESCAPE, 'finds no file, process, network, name or credential of the host'],
  },
  {
    id: 'B9.13',
    clause: 'Network Modes, mode B',
    says: 'Where programs reach networks, allow-lists and metadata endpoints are guarded',
    differs:
      'docs/security/jail-and-workers.md: programs on real interpreters have no network at all, so mode B is not offered',
  },
  {
    id: 'B9.14',
    clause: 'Decision Checklist, isolation',
    says: 'Containers or microVMs such as gVisor, Kata or Firecracker make the boundary',
    differs:
      'docs/security/jail-and-workers.md, levels of isolation: namespaces, a system call list and resource limits by bubblewrap; flaws of the kernel are not covered',
  },

  // B10: wrappers
  {
    id: 'B10.1',
    clause: 'Wrapper Generation, 1',
    says: 'Wrappers come from `tools/list` of each server, all pages of it',
    test: [CONTRACT, MODULES],
  },
  {
    id: 'B10.2',
    clause: 'Wrapper Generation, 2',
    says: 'Each tool has a function that makes `tools/call` with name and arguments',
    test: [PACKAGES, 'calls tools through the module of their server, under the name that the protocol knows'],
  },
  {
    id: 'B10.3',
    clause: 'Wrapper Generation, 2',
    says: 'JavaScript has type declarations from the schemas',
    test: [CORPUS, 'the JavaScript has a declaration for each tool, and all compile under strict'],
  },
  {
    id: 'B10.4',
    clause: 'Wrapper Stub (Python)',
    says: 'Python has a `TypedDict` for the input: `GetWeatherInput`',
    test: [DOCUMENT, WRAPPERS],
  },
  {
    id: 'B10.5',
    clause: 'Wrapper Stub (Python)',
    says: 'A Python wrapper is an async function with one argument `arguments`',
    test: [PACKAGES, 'a Python program names arguments, and is told of a mistake in a name'],
  },
  {
    id: 'B10.6',
    clause: 'Code Wrapper, scope',
    says: 'Python types are right: right calls pass a strict checker, wrong ones do not',
    test: [CORPUS, 'the Python type-checks under strict, and so do right calls but not wrong ones'],
  },
  {
    id: 'B10.7',
    clause: 'Testing Strategies, contract tests',
    says: 'Input is checked against `inputSchema` before the call',
    test: [CONTRACT, MODULES],
  },
  {
    id: 'B10.8',
    clause: 'Testing Strategies, contract tests',
    says: '`structuredContent` is checked against `outputSchema`',
    test: [CONTRACT, MODULES],
  },
  {
    id: 'B10.9',
    clause: 'Tool Definition Fields',
    says: '`inputSchema` and `outputSchema` are JSON Schema, of 2020-12 unless they say otherwise',
    test: [
      'src/broker/arguments/agreement.test.ts',
      'on 10,000 random schemas and values the verdict is that of another validator',
    ],
  },
  {
    id: 'B10.10',
    clause: 'Tool Definition Fields',
    says: 'A tool without `outputSchema`, title or description has a wrapper too',
    test: [PACKAGES, 'calls tools through the module of their server, under the name that the protocol knows'],
  },
  {
    id: 'B10.11',
    clause: 'Code Wrapper, excludes',
    says: 'Wrappers hold no logic of their own: the whole MCP result comes through',
    test: [CONTRACT, CALLS],
  },
  {
    id: 'B10.12',
    clause: 'Code MCP, excludes',
    says: 'The server is the authority on its tools, not the wrapper',
    test: [MCP, ADDED],
  },

  // B11: results
  {
    id: 'B11.1',
    clause: 'Result Normalization',
    says: '`isError: true` is a failure of the tool',
    test: [CONTRACT, CALLS],
  },
  {
    id: 'B11.2',
    clause: 'Result Normalization',
    says: '`structuredContent` is preferred where there is one',
    test: [CONTRACT, CALLS],
  },
  {
    id: 'B11.3',
    clause: 'Result Normalization',
    says: 'A tool with structured content also sends it as text, and the program has both',
    test: [
      'conformance/runner/fine-print.test.ts',
      'gets text and structured content of an answer as one compact JSON line, on record',
    ],
  },
  {
    id: 'B11.4',
    clause: 'Normalized Shape',
    says: 'A success in the normalised shape is `{ ok, data, raw }`',
    test: [
      [CONTRACT, CALLS],
      [DOCUMENT, 'what `normalize` gives has the type of the contract'],
    ],
  },
  {
    id: 'B11.5',
    clause: 'Normalized Shape',
    says: 'A failure in it is `{ ok, error: { type, message, retryable }, raw? }`',
    test: [CONTRACT, CALLS],
  },
  {
    id: 'B11.6',
    clause: 'Code Wrapper, example',
    says: 'A wrapper gives the MCP result itself, with `content` and `structuredContent`',
    test: [CONTRACT, CALLS],
  },
  {
    id: 'B11.7',
    clause: 'Decision Checklist, results',
    says: 'Structured and unstructured results are both understood',
    test: [CONTRACT, CALLS],
  },
  {
    id: 'B11.8',
    clause: 'Spec Alignment',
    says: 'A wrong request of an agent is a tool result with `isError`, no protocol error',
    test: [MCP, 'answers with the result and the output; a wrong request is refused by name'],
  },

  // B12: metadata that must not break
  {
    id: 'B12.1',
    clause: 'Tool Definition Fields; Compatibility, icons',
    says: '`icons`, `title` and `annotations` do not break generation or file names',
    test: [CONTRACT, MODULES],
  },
  {
    id: 'B12.2',
    clause: 'Architecture, key principles',
    says: 'Metadata of tools is untrusted: hostile text in it breaks no module',
    test: [PACKAGES, 'imports a module whose tools say what they can to break it, and calls every one of them'],
  },
  {
    id: 'B12.3',
    clause: 'Architecture, key principles',
    says: 'Metadata of a server counts only where the server is trusted',
    test: [POLICY, 'asks about tools that run code, spend or write SQL, unless their server is trusted'],
  },
  {
    id: 'B12.4',
    clause: 'Spec Alignment',
    says: 'Fields that nobody knows break nothing',
    test: [CONTRACT, MODULES],
  },

  // B13: catalog
  {
    id: 'B13.1',
    clause: 'Progressive Disclosure, 1',
    says: 'The manifest has `serverId`, `toolName` and, where there are, `title` and `description`',
    test: [
      [CONTRACT, CATALOG],
      [DOCUMENT, DEFINITION],
    ],
  },
  {
    id: 'B13.2',
    clause: 'Progressive Disclosure, 2',
    says: 'A definition has `inputSchema` and, where there are, `outputSchema`, `icons` and `annotations`',
    test: [
      [CONTRACT, CATALOG],
      [DOCUMENT, DEFINITION],
    ],
  },
  {
    id: 'B13.3',
    clause: 'Host-Side API',
    says: '`catalog.searchTools({ query, serverId, detail })` finds tools',
    test: [CONTRACT, CATALOG],
  },
  {
    id: 'B13.4',
    clause: 'Host-Side API',
    says: '`detail` is `name` or `name+description`, and another one is refused',
    test: [CONTRACT, CATALOG],
  },
  {
    id: 'B13.5',
    clause: 'System Prompt',
    says: '`query` and `serverId` may be left out of a search',
    test: [CONTRACT, CATALOG],
  },
  {
    id: 'B13.6',
    clause: 'Host-Side API',
    says: '`catalog.getToolDefinition({ serverId, name })` gives the whole definition',
    test: [DOCUMENT, DEFINITION],
  },
  {
    id: 'B13.7',
    clause: 'Host-Side API',
    says: 'The people of the host ask the same questions, by the command line',
    test: [
      [
        'e2e/cli/tools.test.ts',
        'a search ranks tools of all servers, honours server and limit, at three levels of detail',
      ],
      [
        'e2e/runner/servers.test.ts',
        "codemode tools has the catalog's server ids and detail levels, and names of both languages",
      ],
    ],
  },
  {
    id: 'B13.8',
    clause: 'Host-Side API',
    says: 'The code of a host or orchestrator has `catalog` as such',
    test: ['e2e/runner/servers.test.ts', 'the library has the catalog: names first, whole definitions on demand'],
  },
  {
    id: 'B13.9',
    clause: 'Anti-pattern: Pre-loading',
    says: 'The prompt holds no schemas, only an index of servers and tools',
    test: ['conformance/runner/fine-print.test.ts', 'the prompt has an index of tools, and none of their schemas'],
  },
  {
    id: 'B13.10',
    clause: 'Registry (optional)',
    says: 'The MCP Registry may serve as an index of servers',
    differs:
      'CONFORMANCE.md, B13: the document leaves it open; servers come from the configuration, and no registry is asked',
  },
  {
    id: 'B13.11',
    clause: 'Registry (optional)',
    says: '`tools/list` of the connected server is what counts',
    test: [MCP, ADDED],
  },
  {
    id: 'B13.12',
    clause: 'Integration Tests',
    says: 'Search, then a definition, then code, then its answer: the way works from end to end',
    test: [
      'conformance/runner/fine-print.test.ts',
      'finds a tool, reads its definition, and calls it by the names it got',
    ],
  },

  // B14: cache and drift
  {
    id: 'B14.1',
    clause: 'Progressive Disclosure, 3',
    says: 'Definitions are cached',
    test: [
      'e2e/cli/tools.test.ts',
      'tools lists every tool with its server, the second time from disk without starting one',
    ],
  },
  {
    id: 'B14.2',
    clause: 'Progressive Disclosure, 3',
    says: '`notifications/tools/list_changed` makes the cache anew',
    test: [MCP, ADDED],
  },
  {
    id: 'B14.3',
    clause: 'Progressive Disclosure, 3',
    says: 'So does the end of a time to live',
    test: ['e2e/cli/settings.test.ts', 'catalog.ttl says when a server is asked again for its tools'],
  },
  {
    id: 'B14.4',
    clause: 'Progressive Disclosure, 3',
    says: 'So does an operator who asks for it',
    test: [
      'e2e/cli/tools.test.ts',
      'tools lists every tool with its server, the second time from disk without starting one',
    ],
  },
  {
    id: 'B14.5',
    clause: 'Wrapper Generation, 3',
    says: 'Wrappers are made anew after a change, without anybody doing anything',
    test: [MCP, ADDED],
  },
  {
    id: 'B14.6',
    clause: 'Wrapper Generation, 3',
    says: 'Only servers that announce `tools.listChanged` are listened to',
    test: [
      'conformance/runner/fine-print.test.ts',
      'tool changes are listened to only where the server has announced them',
    ],
  },
  {
    id: 'B14.7',
    clause: 'Evaluation, drift',
    says: 'The time from a change to the new catalog is measured',
    test: [MEASURE, MEASURED],
  },
  {
    id: 'B14.8',
    clause: 'Progressive Disclosure, 3',
    says: 'A change is seen at once, also by a program that runs already',
    differs:
      'CONFORMANCE.md, B14: modules and catalog of a program stay as they were at its start; the next one has the change',
  },

  // B15: broker
  {
    id: 'B15.1',
    clause: 'Tool Broker',
    says: 'Every tool call of a program passes the broker, forged ones too',
    test: [HOSTILE, 'meets the policy with calls that it writes to the channel by hand'],
  },
  {
    id: 'B15.2',
    clause: 'Tool Broker, scope',
    says: 'Destructive calls need approval',
    test: [APPROVALS, 'is refused at once where nobody can be asked, with the command that allows it in a new run'],
  },
  {
    id: 'B15.3',
    clause: 'Decision Checklist, broker',
    says: 'A destructive call without approval is denied',
    test: [APPROVALS, 'is refused at once where nobody can be asked, with the command that allows it in a new run'],
  },
  {
    id: 'B15.4',
    clause: 'Tool Broker, scope',
    says: 'Calls that spend need approval, by name and by budget',
    test: [
      [POLICY, 'asks as soon as a run costs more than its budget; a new run starts at zero'],
      [POLICY, 'asks about tools that run code, spend or write SQL, unless their server is trusted'],
    ],
  },
  {
    id: 'B15.5',
    clause: 'Tool Broker',
    says: 'Allow and deny lists decide by server and tool',
    test: [
      [POLICY, 'allows, asks and denies, with the reason and the one thing to do'],
      ['src/broker/policy/policy.test.ts', 'lists of servers and tools come before every rule'],
    ],
  },
  {
    id: 'B15.6',
    clause: 'Tool Broker, scope',
    says: 'Only the broker talks to servers and networks',
    test: [LIMITS, NOTHING_OF_HOST],
  },
  {
    id: 'B15.7',
    clause: 'Tool Broker, excludes',
    says: 'The broker is no proxy for anything else: what is no listed tool is refused',
    test: [HOSTILE, 'meets the policy with calls that it writes to the channel by hand'],
  },
  {
    id: 'B15.8',
    clause: 'Agent Contract, priority',
    says: 'The brokered topology is the default',
    test: [ESCAPE, 'finds no file, process, network, name or credential of the host'],
  },

  // B16: approvals
  {
    id: 'B16.1',
    clause: 'Decision Checklist, broker',
    says: 'A person decides about risky calls while the program waits',
    test: [APPROVALS, 'waits while the user of the client is asked, and its time is paused'],
  },
  {
    id: 'B16.2',
    clause: 'Agent Contract, priority',
    says: 'Consent goes before cost: no yes, no call, however long the person takes',
    test: [APPROVALS, 'is refused when the person takes longer than the configuration allows'],
  },
  {
    id: 'B16.3',
    clause: 'Audit Logging',
    says: 'The decision is on record, with who and why',
    test: [AUDIT, 'a call that waited for a person has its approval and decision on record, with who and why'],
  },

  // B17: credentials
  {
    id: 'B17.1',
    clause: 'Sandbox Security',
    says: 'No long-lived credential is in the sandbox: not in its environment or files',
    test: [ESCAPE, 'finds no file, process, network, name or credential of the host'],
  },
  {
    id: 'B17.2',
    clause: 'Tool Broker, scope',
    says: 'No credential is in the memory of a program, even where a server repeats it',
    test: [SECRETS, 'searches its memory for the answer that the program holds as stored: nothing is there'],
  },
  {
    id: 'B17.3',
    clause: 'Authorization, recommendation',
    says: 'The broker authorises; programs never handle tokens',
    test: [AUTH, LOGIN],
  },
  {
    id: 'B17.4',
    clause: 'Testing Strategies, security',
    says: 'No credential leaves the host by any door',
    test: [SECRETS, 'echoes the credentials it was given: nothing that comes out of the host has them'],
  },

  // B18: audit
  { id: 'B18.1', clause: 'Audit Logging', says: 'A record has a timestamp', test: [AUDIT, RECORD] },
  { id: 'B18.2', clause: 'Audit Logging', says: 'A record has the hash of the code', test: [AUDIT, RECORD] },
  { id: 'B18.3', clause: 'Audit Logging', says: 'A record has server and tool', test: [AUDIT, RECORD] },
  {
    id: 'B18.4',
    clause: 'Audit Logging',
    says: 'A record has the hash of the arguments, and not the arguments',
    test: [AUDIT, RECORD],
  },
  { id: 'B18.5', clause: 'Audit Logging', says: 'A record has the size of the result', test: [AUDIT, RECORD] },
  { id: 'B18.6', clause: 'Audit Logging', says: 'A record has the duration', test: [AUDIT, RECORD] },
  {
    id: 'B18.7',
    clause: 'Audit Logging',
    says: 'A record has the approval decision',
    test: [AUDIT, 'a call that waited for a person has its approval and decision on record, with who and why'],
  },
  {
    id: 'B18.8',
    clause: 'Audit Logging',
    says: 'A record has what was redacted',
    test: [SECRETS, 'direct calls and the records of redactions are clean too'],
  },
  {
    id: 'B18.9',
    clause: 'Tool Broker, scope',
    says: 'A record says who called and how it went',
    test: [AUDIT, RECORD],
  },
  {
    id: 'B18.10',
    clause: 'Audit Logging',
    says: 'Calls that were refused are on record too',
    test: [AUDIT, 'a call that is refused before it is made is on record too: wrong arguments, too many'],
  },
  {
    id: 'B18.11',
    clause: 'Audit Logging',
    says: 'Calls of Node and Python programs have the same record',
    test: [
      'conformance/runner/fine-print.test.ts',
      'gets text and structured content of an answer as one compact JSON line, on record',
    ],
  },

  // B20: OAuth
  {
    id: 'B20.1',
    clause: 'Authorization',
    says: 'Authorization is optional: a server without it is simply called',
    test: ['upstream/everyday.test.ts', 'a call gives content, structured content and the verdict of the tool'],
  },
  {
    id: 'B20.2',
    clause: 'Authorization',
    says: 'The authorization server of a remote server is found by RFC 9728',
    test: [AUTH, LOGIN],
  },
  {
    id: 'B20.3',
    clause: 'Authorization',
    says: 'Servers publish protected resource metadata; so does our own, where it takes tokens of an issuer',
    test: [
      'e2e/http/protected-resource.test.ts',
      'serve publishes the issuer of its tokens where MCP clients look for it',
    ],
  },
  {
    id: 'B20.4',
    clause: 'Authorization',
    says: 'Tokens are asked for with a resource indicator (RFC 8707)',
    test: [AUTH, LOGIN],
  },
  {
    id: 'B20.5',
    clause: 'Authorization',
    says: 'Metadata of the authorization server is found by RFC 8414',
    test: [AUTH, 'a client described at a URL needs no registration; one made by hand keeps its own port'],
  },
  {
    id: 'B20.6',
    clause: 'Authorization',
    says: 'It is found by OpenID Connect Discovery where there is nothing else',
    test: ['e2e/cli/auth.test.ts', 'an issuer that has nothing but OpenID Connect Discovery is found'],
  },
  {
    id: 'B20.7',
    clause: 'Authorization',
    says: 'A challenge that wants more scopes leads to them, by the next login or by itself',
    test: [
      [AUTH, 'a tool that needs more scopes says so, and the next login asks for them'],
      [AUTH, 'client credentials need nobody, and get more scopes by themselves'],
    ],
  },
  {
    id: 'B20.8',
    clause: 'Spec Alignment',
    says: 'A client may be described by a metadata document at an address',
    test: [AUTH, 'a client described at a URL needs no registration; one made by hand keeps its own port'],
  },
  {
    id: 'B20.9',
    clause: 'Authorization, recommendation',
    says: 'The rules of the MCP authorization specification are followed, before its public suite',
    test: ['e2e/mcp/conformance.test.ts', 'call tools of servers of the older era, also of those that want a login'],
  },

  // B21: replay
  {
    id: 'B21.1',
    clause: 'Reliability, rules',
    says: 'Code, calls and inputs are kept, enough to run a program again',
    test: [REPLAY, REPLAYED],
  },
  {
    id: 'B21.2',
    clause: 'Reliability, rules',
    says: 'The hash of the code is kept with it',
    test: ['conformance/runner/fine-print.test.ts', 'leaves its digest and what it ran on in its recording'],
  },
  {
    id: 'B21.3',
    clause: 'Reliability, rules',
    says: 'Identifiers of the environment are kept: build, Node, level of isolation',
    test: ['conformance/runner/fine-print.test.ts', 'leaves its digest and what it ran on in its recording'],
  },

  // B22: self-correction
  {
    id: 'B22.1',
    clause: 'Self-Correction, MAX_RETRIES',
    says: 'There are three attempts at most',
    test: [SELF_CORRECTION, 'after three programs in all it is handed over'],
  },
  {
    id: 'B22.2',
    clause: 'Self-Correction, is_retryable',
    says: '`Timeout`, `RateLimit` and `TransientNetwork` are tried again',
    test: ['src/host/runs/self-correction.test.ts', 'after a %s it is tried again, with what went wrong'],
  },
  {
    id: 'B22.3',
    clause: 'Self-Correction',
    says: 'Anything else ends the loop at once',
    test: [SELF_CORRECTION, 'a program that fails of itself is handed over at once'],
  },
  {
    id: 'B22.4',
    clause: 'Self-Correction',
    says: 'The next task holds the number of the attempt and the message of its error',
    test: [SELF_CORRECTION, 'a program that timed out is written again, and the model is told why'],
  },
  {
    id: 'B22.5',
    clause: 'Self-Correction',
    says: 'A run that went well gives its `data`',
    test: [SELF_CORRECTION, 'a program that timed out is written again, and the model is told why'],
  },
  {
    id: 'B22.6',
    clause: 'Self-Correction',
    says: 'At the end of the attempts stands `{"error": "handoff_required"}`',
    test: [SELF_CORRECTION, 'after three programs in all it is handed over'],
  },
  {
    id: 'B22.7',
    clause: 'Self-Correction',
    says: 'A loop like the printed one works with what the runner answers',
    test: [DOCUMENT, "the contract's loop of self-correction is driven by what the runner answers"],
  },
  {
    id: 'B22.8',
    clause: 'Self-Correction, is_retryable',
    says: 'Failed calls have the types `RateLimit` and `TransientNetwork` where that is their cause',
    test: [
      'e2e/runner/retries.test.ts',
      '429 is RateLimit with its wait; 503 and lost read-only answers are TransientNetwork: %s',
    ],
  },

  // B23: tasks
  {
    id: 'B23.1',
    clause: 'Spec Alignment, tasks',
    says: 'A tool that answers with a task is followed to its end',
    test: [
      'e2e/mcp/tasks.test.ts',
      'a tool that answers with a task is followed to its end, and the trace names the task',
    ],
  },
  {
    id: 'B23.2',
    clause: 'Spec Alignment, tasks',
    says: 'The id of the task is in the trace',
    test: [
      'e2e/mcp/tasks.test.ts',
      'a tool that answers with a task is followed to its end, and the trace names the task',
    ],
  },
  {
    id: 'B23.3',
    clause: 'Spec Alignment, tasks',
    says: 'The id of the task is in what a Node or Python run leaves behind',
    test: ['conformance/runner/fine-print.test.ts', 'names the task that a server made of its call in its trace'],
  },
  {
    id: 'B23.4',
    clause: 'Spec Alignment, tasks',
    says: 'Tasks sit behind a switch, being experimental',
    differs:
      'A task is followed wherever a server answers with one: without that, the result of such a tool could not be had at all. Nothing of ours offers tasks, so there is nothing to switch on.',
  },
  {
    id: 'B23.5',
    clause: 'Spec Alignment, sampling',
    says: 'Questions of servers to the model may carry tools',
    test: [
      'src/upstream/mcp/questions/questions.test.ts',
      'a server learns only the supported questions; sampling may carry tools',
    ],
  },

  // B24: prompt
  {
    id: 'B24.1',
    clause: 'System Prompt',
    says: 'The prompt says that tasks are solved by code in a sandbox',
    test: [DOCUMENT, RULES],
  },
  {
    id: 'B24.2',
    clause: 'System Prompt',
    says: 'It says to use wrappers and not to call MCP tools directly',
    test: [DOCUMENT, RULES],
  },
  {
    id: 'B24.3',
    clause: 'System Prompt',
    says: 'It names search first and definitions second, by their calls',
    test: [DOCUMENT, RULES],
  },
  {
    id: 'B24.4',
    clause: 'System Prompt',
    says: 'It says that the runner returns one line of JSON, with logs on stderr',
    test: [DOCUMENT, RULES],
  },
  {
    id: 'B24.5',
    clause: 'System Prompt',
    says: 'It says to keep large data in the sandbox and return summaries',
    test: [DOCUMENT, RULES],
  },
  {
    id: 'B24.6',
    clause: 'System Prompt, context',
    says: 'The agent has it when its session starts',
    test: [MCP, 'lists a tool for each interpreter there is, and tells the agent how to use them'],
  },

  // B25: measurement
  {
    id: 'B25.1',
    clause: 'Agent Contract, do not use',
    says: 'Where tools are few and small, code mode is said not to be worth it',
    test: [MEASURE, 'says that code mode is not worth it for a few small tools, and what it could not measure'],
  },
  {
    id: 'B25.2',
    clause: 'Agent Contract, use when',
    says: 'The signals are ten tools or ten thousand tokens of definitions',
    test: [
      'src/host/admin/measure-levels.test.ts',
      'few tools are better given to the model directly, and their number is named',
    ],
  },
  {
    id: 'B25.3',
    clause: 'Evaluation, tokens',
    says: 'Tokens are counted: all definitions, the catalog alone, what is added on demand',
    test: [MEASURE, MEASURED],
  },
  {
    id: 'B25.4',
    clause: 'Evaluation, tokens',
    says: 'Figures are measured on the servers of the user, never assumed',
    test: [MEASURE, MEASURED],
  },
  {
    id: 'B25.5',
    clause: 'Evaluation, accuracy',
    says: 'Tool selection is tried on a list of tasks with the tools they need',
    test: [MEASURE, MEASURED],
  },
  {
    id: 'B25.6',
    clause: 'Evaluation, overhead',
    says: 'What sandbox and broker add is told at p95',
    test: [MEASURE, MEASURED],
  },
  {
    id: 'B25.7',
    clause: 'Evaluation, overhead',
    says: 'Spans cover start of the runner, execution, broker call and tool call',
    test: ['e2e/cli/traces.test.ts', TRACED],
  },
  {
    id: 'B25.8',
    clause: 'TL;DR, table',
    says: 'Large outputs are filtered in the sandbox, and only what is handed over reaches the model',
    test: [DOCUMENT, BOTH_NODE],
  },
];
