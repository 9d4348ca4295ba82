import type { Statement } from './statement.js';

/** Document A, "Code Mode for MCP", statement by statement. The words are ours. */
export const CODEMODE_STATEMENTS: readonly Statement[] = [
  {
    id: 'A1.1',
    clause: '0; 1.1; 2 (1); 3.1',
    says: 'One tool runs programs, and an agent is shown no other',
    test: [
      'conformance/codemode/outer-tool.test.ts',
      'one tool is listed, with schemas for its request and its response',
    ],
  },
  {
    id: 'A1.2',
    clause: '2 (1); 3',
    says: 'The tool is called `codemode.run`',
    differs:
      'We list `codemode_run`, because model APIs refuse a dot in a tool name and with it the whole request; `codemode.run` is answered too.',
  },
  {
    id: 'A1.3',
    clause: '3.1',
    says: 'A call by the name `codemode.run` runs the program',
    test: [
      'e2e/mcp/tool-names.test.ts',
      'the tool is codemode_run, and codemode.run is answered, on both transports, %s',
    ],
  },
  {
    id: 'A1.4',
    clause: '0; 2 (3); 3.1',
    says: 'The tools of servers are called from programs, not by their own names',
    test: [
      'conformance/codemode/outer-tool.test.ts',
      'a tool that is called from programs is not called by its own name, and the error says how',
    ],
  },
  {
    id: 'A2.1',
    clause: '3.2',
    says: 'A request is a JSON object',
    test: ['src/profiles/codemode/contract.test.ts', '%j is refused as a request: it must be an object'],
  },
  {
    id: 'A2.2',
    clause: '3.2',
    says: '`code` is required',
    test: [
      ['conformance/codemode/outer-tool.test.ts', 'the malformed request %j is answered with what is wrong'],
      ['prompt/facts.test.ts', 'and the parser agree: %s for %j'],
    ],
  },
  {
    id: 'A2.3',
    clause: '3.2',
    says: '`code` is a string',
    test: [
      ['conformance/codemode/outer-tool.test.ts', 'the malformed request %j is answered with what is wrong'],
      ['prompt/facts.test.ts', 'and the parser agree: %s for %j'],
    ],
  },
  {
    id: 'A2.4',
    clause: '3.2',
    says: '`limits` may be left out',
    test: ['prompt/facts.test.ts', 'and the parser agree: %s for %j'],
  },
  {
    id: 'A2.5',
    clause: '3.2',
    says: '`limits` is an object',
    test: [
      ['conformance/codemode/outer-tool.test.ts', 'the malformed request %j is answered with what is wrong'],
      ['prompt/facts.test.ts', 'and the parser agree: %s for %j'],
    ],
  },
  {
    id: 'A2.6',
    clause: '3.2',
    says: '`requestedCapabilities` may be left out',
    test: ['prompt/facts.test.ts', 'and the parser agree: %s for %j'],
  },
  {
    id: 'A2.7',
    clause: '3.2',
    says: '`requestedCapabilities` is an array of strings',
    test: [
      ['conformance/codemode/outer-tool.test.ts', 'the malformed request %j is answered with what is wrong'],
      ['prompt/facts.test.ts', 'and the parser agree: %s for %j'],
    ],
  },
  {
    id: 'A3.1',
    clause: '1.4',
    says: 'Each run begins in a sandbox of its own',
    test: ['sandbox/programs.test.ts', 'sees nothing of the program before it'],
  },
  {
    id: 'A3.2',
    clause: '1.4',
    says: 'No state of an earlier run is left in a sandbox',
    test: ['attacks/canaries.test.ts', 'a reused instance shows nothing of its last program, whatever that left in it'],
  },
  {
    id: 'A4.1',
    clause: '2 (2); 3.2',
    says: '`code` is source text of JavaScript and is run',
    test: ['conformance/codemode/outer-tool.test.ts', 'an answer is structure, and the same as text'],
  },
  {
    id: 'A4.2',
    clause: '3.2.1',
    says: 'The program has the semantics of an ES module',
    test: [
      [
        'sandbox/programs.test.ts',
        'a program has imports, exports, top-level await and dynamic import of the same modules',
      ],
      ['prompt/facts.test.ts', '%s: as the instructions say'],
    ],
  },
  {
    id: 'A4.3',
    clause: '3.2.1',
    says: 'A program may have `import`',
    test: [
      'sandbox/programs.test.ts',
      'a program has imports, exports, top-level await and dynamic import of the same modules',
    ],
  },
  {
    id: 'A4.4',
    clause: '3.2.1',
    says: 'A program may have `export`',
    test: [
      'sandbox/programs.test.ts',
      'a program has imports, exports, top-level await and dynamic import of the same modules',
    ],
  },
  {
    id: 'A4.5',
    clause: '3.2.1',
    says: 'A program may have `await` at top level',
    test: [
      'sandbox/programs.test.ts',
      'a program has imports, exports, top-level await and dynamic import of the same modules',
    ],
  },
  {
    id: 'A5.1',
    clause: '3.2.2; 3.5',
    says: '`globalThis.__codemode_result__` is defined from the start',
    test: ['e2e/mcp/globals.test.ts', 'include the place for the result, empty at first'],
  },
  {
    id: 'A5.2',
    clause: '3.2.2',
    says: '`result` is what the program assigned to `globalThis.__codemode_result__`',
    test: ['sandbox/programs.test.ts', '__codemode_result__ becomes the result, null if it was never assigned'],
  },
  {
    id: 'A5.3',
    clause: '3.2.2',
    says: 'Of several assignments to the result the last one counts',
    test: ['conformance/codemode/fine-print.test.ts', 'is the last of several values that were assigned'],
  },
  {
    id: 'A5.4',
    clause: '3.2.2; 3.3',
    says: '`result` is `null` where nothing was assigned',
    test: ['sandbox/programs.test.ts', '__codemode_result__ becomes the result, null if it was never assigned'],
  },
  {
    id: 'A5.5',
    clause: '3.2.2, example',
    says: 'An object that is assigned comes back as it is',
    test: [
      'e2e/cli/run-command.test.ts',
      'prints the response, with logs, result, diagnostics and toolTrace and nothing else',
    ],
  },
  {
    id: 'A5.6',
    clause: '3.2.2',
    says: 'The value of the last expression is not taken for the result',
    test: ['conformance/codemode/fine-print.test.ts', 'is not the value of the last expression'],
  },
  {
    id: 'A5.7',
    clause: '3.3',
    says: '`result` is JSON; what cannot be JSON is a diagnostic',
    test: ['sandbox/programs.test.ts', '%s as result is a diagnostic, not a crash'],
  },
  {
    id: 'A5.8',
    clause: '3.2.2',
    says: 'The result is handed over, however large it is',
    differs:
      'CONFORMANCE.md, A5: of a result over about 12,000 bytes the answer has the first part and its shape, and a handle for load().',
  },
  {
    id: 'A5.9',
    clause: '3.2.2',
    says: 'The result is handed over unchanged',
    differs:
      'Credentials that the host holds, and what looks like one, are redacted in results and logs (docs/security/calls-and-approvals.md); a diagnostic REDACTED says so.',
  },
  {
    id: 'A6.1',
    clause: '3.2.3',
    says: '`requestedCapabilities` is only a hint: a program may import a server that it does not name',
    test: ['conformance/codemode/outer-tool.test.ts', 'an answer is structure, and the same as text'],
  },
  {
    id: 'A6.2',
    clause: '3.2.3',
    says: 'The host tries to have the named servers ready',
    test: [
      'conformance/codemode/fine-print.test.ts',
      'a named server is waited for, though the program does not name it',
    ],
  },
  {
    id: 'A6.3',
    clause: '3.2.3',
    says: 'A named server that is not available is a diagnostic, even if the program never uses it',
    test: ['conformance/codemode/errors.test.ts', 'are named as soon as a request asks for them'],
  },
  {
    id: 'A6.4',
    clause: '3.2.3',
    says: 'What cannot be provided is not claimed',
    test: [
      [
        'conformance/codemode/unavailable-servers.test.ts',
        'listServers has only servers that are there, and diagnostics name the others',
      ],
      [
        'conformance/codemode/unavailable-servers.test.ts',
        'a program can catch what a dynamic import and discovery throw',
      ],
    ],
  },
  {
    id: 'A6.5',
    clause: '3.2.3',
    says: 'A program that uses a named server that is not there gets a structured error',
    test: [
      ['e2e/runs/policy.test.ts', 'reports a hidden server to callers that ask for it, and refuses its import'],
      [
        'conformance/codemode/outer-tool.test.ts',
        'requested servers that are not available are reported before the program uses them',
      ],
    ],
  },
  {
    id: 'A6.6',
    clause: '3.2.3',
    says: 'A program that uses a server that is configured and down gets a structured error',
    test: ['conformance/codemode/unavailable-servers.test.ts', '%s fails once, with the server and its reason'],
  },
  {
    id: 'A7.1',
    clause: '3.2.4',
    says: '`timeoutMs` of a request bounds its time',
    test: [
      ['conformance/codemode/outer-tool.test.ts', '%s fails as a program and not as a call'],
      ['sandbox/limits.test.ts', '%s ends at the time limit and cannot be caught'],
    ],
  },
  {
    id: 'A7.2',
    clause: '3.2.4',
    says: '`maxMemoryBytes` of a request bounds its memory',
    test: ['sandbox/limits.test.ts', '%s past the limit end the program, and cannot be survived'],
  },
  {
    id: 'A7.3',
    clause: '3.2.4',
    says: '`maxLogBytes` of a request bounds its console output',
    test: ['e2e/mcp/globals.test.ts', 'that was cut ends with a warning that says so and names the limit'],
  },
  {
    id: 'A7.4',
    clause: '3.2.4',
    says: '`maxToolCalls` of a request bounds its tool calls',
    test: [
      'conformance/codemode/errors.test.ts',
      'past the cap are a SandboxLimitError that can be caught, again and again',
    ],
  },
  {
    id: 'A7.5',
    clause: '3.2.4',
    says: 'The four limits are whole numbers',
    test: [
      ['conformance/codemode/outer-tool.test.ts', 'the malformed request %j is answered with what is wrong'],
      ['prompt/facts.test.ts', 'name every limit with default and maximum'],
    ],
  },
  {
    id: 'A7.6',
    clause: '3.2.4',
    says: 'Keys of `limits` that nobody knows are ignored without an error',
    test: ['conformance/codemode/outer-tool.test.ts', 'unknown fields and unknown limits are ignored'],
  },
  {
    id: 'A7.7',
    clause: '3.2',
    says: 'What the limits are is up to the host',
    test: [
      [
        'conformance/codemode/outer-tool.test.ts',
        'limits of the configuration count for requests that set none, and bound those that do',
      ],
      ['e2e/cli/run-command.test.ts', 'stops at the limits of the configuration where none are typed'],
    ],
  },
  {
    id: 'A8.1',
    clause: '3.3',
    says: 'The response is a JSON object',
    test: ['conformance/codemode/outer-tool.test.ts', 'an answer is structure, and the same as text'],
  },
  {
    id: 'A8.2',
    clause: '3.3',
    says: 'The response always has `logs`, an array',
    test: [
      [
        'e2e/cli/run-command.test.ts',
        'prints the response, with logs, result, diagnostics and toolTrace and nothing else',
      ],
      ['prompt/facts.test.ts', 'the answer of a program %s fits the output schema'],
    ],
  },
  {
    id: 'A8.3',
    clause: '3.3',
    says: 'The response always has `result`',
    test: [
      [
        'e2e/cli/run-command.test.ts',
        'prints the response, with logs, result, diagnostics and toolTrace and nothing else',
      ],
      ['prompt/facts.test.ts', 'the answer of a program %s fits the output schema'],
    ],
  },
  {
    id: 'A8.4',
    clause: '3.3',
    says: 'The response always has `diagnostics`, an array',
    test: [
      [
        'e2e/cli/run-command.test.ts',
        'prints the response, with logs, result, diagnostics and toolTrace and nothing else',
      ],
      ['prompt/facts.test.ts', 'the answer of a program %s fits the output schema'],
    ],
  },
  {
    id: 'A8.5',
    clause: '3.3',
    says: '`toolTrace`, which may be left out, is an array',
    test: [
      ['conformance/codemode/outer-tool.test.ts', 'the trace has every call and never what went in or came out'],
      [
        'e2e/mcp/answers.test.ts',
        'after 900 successful calls costs no more than 300 tokens, and lists all of them on request',
      ],
    ],
  },
  {
    id: 'A8.6',
    clause: '3.2.2; 3.3',
    says: 'The response comes when the program has ended, with what it logged and called',
    differs:
      'CONFORMANCE.md, A8: a client that asked for no progress is answered after 50 s with STILL_RUNNING, before it gives up; wait() has the rest. A program whose calls wait for a person is suspended and answered with APPROVAL_PENDING, with its calls so far.',
  },
  {
    id: 'A9.1',
    clause: '3.3; 3.3.1',
    says: 'Console calls come back as entries of `logs`',
    test: ['e2e/mcp/globals.test.ts', 'has the level of the call, in the order of the calls'],
  },
  {
    id: 'A9.2',
    clause: '3.3.1',
    says: 'The level is debug, log, warn or error',
    test: ['e2e/mcp/globals.test.ts', 'has the level of the call, in the order of the calls'],
  },
  {
    id: 'A9.3',
    clause: '3.3.1',
    says: 'The message is a string',
    test: ['e2e/mcp/globals.test.ts', 'console.log(%s) is one entry with one stable text'],
  },
  {
    id: 'A9.4',
    clause: '3.3.1',
    says: '`timeMs` is whole milliseconds since the start of the sandbox',
    test: ['e2e/mcp/globals.test.ts', 'has the time since the start, in whole milliseconds'],
  },
  {
    id: 'A9.5',
    clause: '3.3.1',
    says: 'Every call of a console method is captured',
    test: [
      ['src/worker/quickjs/guest/globals/console.test.ts', 'each method writes at its level'],
      ['src/worker/quickjs/guest/globals/console.test.ts', 'the smaller methods do their part'],
    ],
  },
  {
    id: 'A9.6',
    clause: '3.3.1',
    says: 'All arguments of a call become one message',
    test: ['e2e/mcp/globals.test.ts', 'console.log(%s) is one entry with one stable text'],
  },
  {
    id: 'A9.7',
    clause: '3.3.1',
    says: 'Primitive values are written as `String(value)` writes them',
    test: ['e2e/mcp/globals.test.ts', 'console.log(%s) is one entry with one stable text'],
  },
  {
    id: 'A9.8',
    clause: '3.3.1',
    says: 'Objects and arrays are written as JSON that is always the same for the same value',
    test: [
      ['e2e/mcp/globals.test.ts', 'console.log(%s) is one entry with one stable text'],
      ['src/worker/quickjs/guest/globals/console.test.ts', 'console.log(%s) says what the contract says'],
    ],
  },
  {
    id: 'A9.9',
    clause: '3.3.1',
    says: 'Objects of every kind are written as JSON',
    differs:
      'CONFORMANCE.md, A9: what JSON would lose (errors, functions, BigInt, Map, Set, RegExp) is written as text that says it.',
  },
  {
    id: 'A9.10',
    clause: '3.3.1',
    says: 'What cannot be written, such as a circle, is `[Unserializable Object]`',
    test: [
      ['e2e/mcp/globals.test.ts', 'console.log(%s) is one entry with one stable text'],
      [
        'src/worker/quickjs/guest/globals/console.test.ts',
        'what cannot be written, %s, is [Unserializable Object], and its neighbours are not lost',
      ],
    ],
  },
  {
    id: 'A9.11',
    clause: '3.3.1; 9',
    says: 'Logs that were cut end with an entry of level warn',
    test: [
      ['e2e/mcp/globals.test.ts', 'that was cut ends with a warning that says so and names the limit'],
      ['e2e/mcp/answers.test.ts', 'with %s costs no more than 6,000 tokens and says what is left out'],
    ],
  },
  {
    id: 'A9.12',
    clause: '3.3.1',
    says: 'The last entry says that logs were cut, and at which limit',
    test: [
      ['e2e/mcp/globals.test.ts', 'that was cut ends with a warning that says so and names the limit'],
      ['e2e/mcp/answers.test.ts', 'with %s costs no more than 6,000 tokens and says what is left out'],
    ],
  },
  {
    id: 'A9.13',
    clause: '3.3.1; 9',
    says: 'A single message that was cut is signalled by a last entry too',
    test: ['e2e/mcp/answers.test.ts', 'with %s costs no more than 6,000 tokens and says what is left out'],
  },
  {
    id: 'A9.14',
    clause: '3.3.1',
    says: 'The limit that a last entry names is the one that was applied',
    test: ['conformance/codemode/fine-print.test.ts', 'logs that were cut at the most entries name that limit'],
  },
  {
    id: 'A9.15',
    clause: '9',
    says: '`console.log`, `debug`, `warn` and `error` work',
    test: ['e2e/mcp/globals.test.ts', 'has the level of the call, in the order of the calls'],
  },
  {
    id: 'A10.1',
    clause: '3.3.2',
    says: 'A trace entry has `serverId`',
    test: [
      ['conformance/codemode/outer-tool.test.ts', 'the trace has every call and never what went in or came out'],
      [
        'conformance/codemode/errors.test.ts',
        'trace entries name server, tool, time and outcome, and neither inputs nor outputs',
      ],
    ],
  },
  {
    id: 'A10.2',
    clause: '3.3.2',
    says: '`toolName` of a trace entry is the name in the protocol, not that of the export',
    test: ['conformance/codemode/fine-print.test.ts', 'has the name of the protocol, and whole milliseconds'],
  },
  {
    id: 'A10.3',
    clause: '3.3.2',
    says: '`durationMs` of a trace entry is a whole number',
    test: ['conformance/codemode/fine-print.test.ts', 'has the name of the protocol, and whole milliseconds'],
  },
  {
    id: 'A10.4',
    clause: '3.3.2',
    says: '`ok` of a trace entry says whether the call succeeded',
    test: [
      ['conformance/codemode/outer-tool.test.ts', 'the trace has every call and never what went in or came out'],
      [
        'conformance/codemode/errors.test.ts',
        'trace entries name server, tool, time and outcome, and neither inputs nor outputs',
      ],
    ],
  },
  {
    id: 'A10.5',
    clause: '3.3.2',
    says: 'The trace entry of a failed call has `error`, a short text',
    test: [
      ['conformance/codemode/outer-tool.test.ts', 'the trace has every call and never what went in or came out'],
      [
        'conformance/codemode/errors.test.ts',
        'trace entries name server, tool, time and outcome, and neither inputs nor outputs',
      ],
    ],
  },
  {
    id: 'A10.6',
    clause: '3.3; 3.3.2',
    says: 'The trace has nothing of what went in',
    test: ['conformance/codemode/outer-tool.test.ts', 'the trace has every call and never what went in or came out'],
  },
  {
    id: 'A10.7',
    clause: '3.3; 3.3.2',
    says: 'The trace has nothing of what came out, not even the words of a failed tool',
    test: [
      'conformance/codemode/errors.test.ts',
      'trace entries name server, tool, time and outcome, and neither inputs nor outputs',
    ],
  },
  {
    id: 'A10.8',
    clause: '3.3.2',
    says: 'The trace entry of a call that was refused for its input has nothing of that input',
    test: ['conformance/codemode/fine-print.test.ts', 'has nothing of an input that was refused'],
  },
  {
    id: 'A11.1',
    clause: '3.3.3',
    says: '`severity` is error, warning or info',
    test: [
      ['e2e/cli/run-command.test.ts', 'answers %s with %s and the place, and with a hint where one says more'],
      [
        'conformance/codemode/errors.test.ts',
        'an answer that breaks the tool’s own schema reaches the program, with a warning',
      ],
      ['e2e/mcp/data-as-sent.test.ts', 'a key of a known vendor is redacted, and the diagnostic names the setting'],
    ],
  },
  {
    id: 'A11.2',
    clause: '3.3.3',
    says: '`code` can be read by a machine: SYNTAX_ERROR for source that does not parse',
    test: [
      ['conformance/codemode/outer-tool.test.ts', '%s fails as a program and not as a call'],
      ['e2e/cli/run-command.test.ts', 'answers %s with %s and the place, and with a hint where one says more'],
    ],
  },
  {
    id: 'A11.3',
    clause: '3.3.3',
    says: '`code` is UNCAUGHT_EXCEPTION for what nobody caught',
    test: [
      ['conformance/codemode/outer-tool.test.ts', '%s fails as a program and not as a call'],
      ['e2e/cli/run-command.test.ts', 'answers %s with %s and the place, and with a hint where one says more'],
    ],
  },
  {
    id: 'A11.4',
    clause: '3.3.3',
    says: '`code` is IMPORT_FAILURE for what cannot be imported',
    test: [
      ['conformance/codemode/outer-tool.test.ts', '%s fails as a program and not as a call'],
      ['e2e/cli/run-command.test.ts', 'answers %s with %s and the place, and with a hint where one says more'],
    ],
  },
  {
    id: 'A11.5',
    clause: '3.3.3',
    says: '`code` is SANDBOX_LIMIT for a limit that was exceeded',
    test: [
      ['conformance/codemode/outer-tool.test.ts', '%s fails as a program and not as a call'],
      ['e2e/cli/run-command.test.ts', 'stops at the limits that were typed'],
    ],
  },
  {
    id: 'A11.6',
    clause: '3.3.3',
    says: '`message` says it to people',
    test: [
      'e2e/cli/run-command.test.ts',
      'answers a program that fails with everything up to the failure, and status 1',
    ],
  },
  {
    id: 'A11.7',
    clause: '3.3.3',
    says: '`hint`, where there is one, is one thing to do',
    test: ['e2e/cli/run-command.test.ts', 'answers %s with %s and the place, and with a hint where one says more'],
  },
  {
    id: 'A11.8',
    clause: '3.3.3',
    says: '`path` is the place in the source',
    test: [
      ['sandbox/programs.test.ts', 'an uncaught exception is placed in the agent’s own TypeScript lines and columns'],
      ['e2e/cli/run-command.test.ts', 'answers %s with %s and the place, and with a hint where one says more'],
    ],
  },
  {
    id: 'A11.9',
    clause: '3.3.3',
    says: '`path` is a place in the source or a JSON Pointer and nothing else',
    differs:
      'CONFORMANCE.md, A11: SERVER_TYPES has the module that it declares there; no place in the source asked for it.',
  },
  {
    id: 'A11.10',
    clause: '3.3.3',
    says: '`errorClass` names the class of `@codemode/errors` behind it',
    test: [
      'conformance/codemode/errors.test.ts',
      'an uncaught one is a diagnostic with its class, its place and its hint',
    ],
  },
  {
    id: 'A11.11',
    clause: '3.3.3',
    says: '`errorClass` is there wherever a class applies',
    test: [
      'conformance/codemode/errors.test.ts',
      'a tool that an import misspells has its class, and the nearest name as hint',
    ],
  },
  {
    id: 'A12.1',
    clause: '3.3.4',
    says: 'A program that fails is answered in the same structure',
    test: [
      ['conformance/codemode/outer-tool.test.ts', '%s fails as a program and not as a call'],
      ['e2e/cli/run-command.test.ts', 'answers a program that fails with everything up to the failure, and status 1'],
    ],
  },
  {
    id: 'A12.2',
    clause: '3.3.4',
    says: 'A syntax error does not make the call fail',
    test: ['conformance/codemode/outer-tool.test.ts', '%s fails as a program and not as a call'],
  },
  {
    id: 'A12.3',
    clause: '3.3.4',
    says: 'An uncaught exception does not make the call fail',
    test: ['conformance/codemode/outer-tool.test.ts', '%s fails as a program and not as a call'],
  },
  {
    id: 'A12.4',
    clause: '3.3.4',
    says: 'A failed import does not make the call fail',
    test: ['conformance/codemode/outer-tool.test.ts', '%s fails as a program and not as a call'],
  },
  {
    id: 'A12.5',
    clause: '3.3.4',
    says: '`diagnostics` of a program that failed has at least one entry about it',
    test: [
      ['conformance/codemode/outer-tool.test.ts', '%s fails as a program and not as a call'],
      ['e2e/cli/run-command.test.ts', 'answers %s with %s and the place, and with a hint where one says more'],
    ],
  },
  {
    id: 'A12.6',
    clause: '3.3.4',
    says: '`result` of a program that failed is `null`',
    test: [
      ['conformance/codemode/outer-tool.test.ts', '%s fails as a program and not as a call'],
      ['e2e/cli/run-command.test.ts', 'answers %s with %s and the place, and with a hint where one says more'],
    ],
  },
  {
    id: 'A12.7',
    clause: '3.3.4',
    says: '`result` is `null` also where the program had assigned one before it failed',
    test: ['conformance/codemode/fine-print.test.ts', 'is null where the program failed after it had assigned one'],
  },
  {
    id: 'A12.8',
    clause: '3.3.4',
    says: '`logs` of a program that failed has what was logged before',
    test: [
      ['e2e/cli/run-command.test.ts', 'answers a program that fails with everything up to the failure, and status 1'],
      ['sandbox/programs.test.ts', 'logs up to a failure are kept'],
    ],
  },
  {
    id: 'A12.9',
    clause: '3.3.4',
    says: '`toolTrace` of a program that failed has the calls that were completed before',
    differs:
      'CONFORMANCE.md, A10: by default the calls that failed are listed and the others counted in one line; `toolTrace: all` lists every one.',
  },
  {
    id: 'A12.10',
    clause: '3.3.4',
    says: 'The response has its structure also where the host cannot run anything',
    test: [
      ['e2e/mcp/stdio.test.ts', 'it exits with 69 and says what to do after answering the client, and runs nothing'],
      ['attacks/trust.test.ts', 'a client beside such a file is told why nothing runs, and nothing of it is quoted'],
    ],
  },
  {
    id: 'A12.11',
    clause: '3.3.4',
    says: 'The response has its structure also where a result, or what a call takes, is nested too deeply for the host',
    test: [
      'attacks/quotas.test.ts',
      'millions of small values and thousands of levels are neither arguments nor result',
    ],
  },
  {
    id: 'A13.1',
    clause: '2 (2)',
    says: 'Programs run in an isolated sandbox',
    test: ['attacks/escaped-worker.test.ts', 'in place of a QuickJS worker'],
  },
  {
    id: 'A13.2',
    clause: '3.4',
    says: 'A program has no network of its own',
    test: [
      ['e2e/mcp/globals.test.ts', 'do not include what would reach the network, the machine or Node'],
      ['e2e/mcp/globals.test.ts', 'lead to no network by way of modules either'],
      ['attacks/escaped-worker.test.ts', 'in place of a QuickJS worker'],
    ],
  },
  {
    id: 'A13.3',
    clause: '3.4',
    says: 'A program acts on the outside through tool calls alone',
    test: ['attacks/escaped-worker.test.ts', 'in place of a QuickJS worker'],
  },
  {
    id: 'A14.1',
    clause: '3.5',
    says: 'The built-ins of the language that are listed are there, from `JSON` to `undefined`',
    test: ['e2e/mcp/globals.test.ts', 'are all there, and work'],
  },
  {
    id: 'A14.2',
    clause: '3.5',
    says: '`URL` and `URLSearchParams` are there',
    test: ['e2e/mcp/globals.test.ts', 'are all there, and work'],
  },
  {
    id: 'A14.3',
    clause: '3.5',
    says: '`TextEncoder` and `TextDecoder` are there',
    test: ['e2e/mcp/globals.test.ts', 'are all there, and work'],
  },
  {
    id: 'A14.4',
    clause: '3.5',
    says: '`ArrayBuffer`, `DataView` and the eight listed typed arrays are there',
    test: ['e2e/mcp/globals.test.ts', 'are all there, and work'],
  },
  {
    id: 'A14.5',
    clause: '3.5',
    says: '`setTimeout` and `clearTimeout` are there',
    test: ['e2e/mcp/globals.test.ts', 'are all there, and work'],
  },
  {
    id: 'A14.6',
    clause: '3.5; 9',
    says: '`console.log`, `debug`, `warn` and `error` are there',
    test: ['e2e/mcp/globals.test.ts', 'are all there, and work'],
  },
  {
    id: 'A14.7',
    clause: '3.5',
    says: '`fetch` is not there',
    test: ['e2e/mcp/globals.test.ts', 'do not include what would reach the network, the machine or Node'],
  },
  {
    id: 'A14.8',
    clause: '3.5',
    says: '`XMLHttpRequest` is not there',
    test: ['e2e/mcp/globals.test.ts', 'do not include what would reach the network, the machine or Node'],
  },
  {
    id: 'A14.9',
    clause: '3.5',
    says: '`WebSocket` is not there',
    test: ['e2e/mcp/globals.test.ts', 'do not include what would reach the network, the machine or Node'],
  },
  {
    id: 'A14.10',
    clause: '3.5',
    says: 'No other network API is there',
    test: [
      ['e2e/mcp/globals.test.ts', 'do not include what would reach the network, the machine or Node'],
      ['pins/guest-globals.test.ts', 'a program finds these globals and no others'],
    ],
  },
  {
    id: 'A14.11',
    clause: '3.5',
    says: '`setInterval` is not there',
    test: ['e2e/mcp/globals.test.ts', 'do not include what would reach the network, the machine or Node'],
  },
  {
    id: 'A14.12',
    clause: '3.5',
    says: '`setTimeout` serves for a single delay',
    test: ['e2e/mcp/globals.test.ts', 'are all there, and work'],
  },
  {
    id: 'A14.13',
    clause: '3.5; 11',
    says: '`eval` is not there',
    test: [
      ['e2e/mcp/globals.test.ts', 'do not include what would reach the network, the machine or Node'],
      ['attacks/code-from-strings.test.ts', 'through %s'],
    ],
  },
  {
    id: 'A14.14',
    clause: '3.5; 11',
    says: '`Function` and its relatives make no code from strings',
    test: [
      ['e2e/mcp/globals.test.ts', 'make no code from strings: %s'],
      ['attacks/code-from-strings.test.ts', 'through %s'],
    ],
  },
  {
    id: 'A14.15',
    clause: '3.5',
    says: '`process` is not there',
    test: ['e2e/mcp/globals.test.ts', 'do not include what would reach the network, the machine or Node'],
  },
  {
    id: 'A14.16',
    clause: '3.5',
    says: '`require` is not there',
    test: ['e2e/mcp/globals.test.ts', 'do not include what would reach the network, the machine or Node'],
  },
  {
    id: 'A14.17',
    clause: '3.5',
    says: 'No other global of Node is there',
    test: [
      ['e2e/mcp/globals.test.ts', 'do not include what would reach the network, the machine or Node'],
      ['pins/guest-globals.test.ts', 'a program finds these globals and no others'],
    ],
  },
  {
    id: 'A15.1',
    clause: '4',
    says: 'Modules under `@codemode/` are built in',
    test: [
      ['prompt/facts.test.ts', 'the modules that are declared export what the real ones do'],
      ['e2e/mcp/discovery.test.ts', 'a program learns which servers and tools there are, and which contract it speaks'],
    ],
  },
  {
    id: 'A15.2',
    clause: '2 (4); 4.1',
    says: 'One module, `@codemode/discovery`, has all of discovery',
    test: [
      'e2e/mcp/discovery.test.ts',
      'a program learns which servers and tools there are, and which contract it speaks',
    ],
  },
  {
    id: 'A15.3',
    clause: '4.1; 12.1',
    says: 'Discovery exports `specVersion`, a string',
    test: ['conformance/codemode/discovery.test.ts', 'has a semver version'],
  },
  {
    id: 'A15.4',
    clause: '12.1',
    says: '`specVersion` is a semver version',
    test: ['conformance/codemode/discovery.test.ts', 'has a semver version'],
  },
  {
    id: 'A15.5',
    clause: '12.1, example',
    says: '`import { specVersion }` from the discovery module works',
    test: ['conformance/codemode/discovery.test.ts', 'has a semver version'],
  },
  {
    id: 'A15.6',
    clause: '2 (3); 4.1',
    says: '`listServers()` gives the servers there are',
    test: [
      ['conformance/codemode/discovery.test.ts', 'lists and describes servers under their normalised names'],
      [
        'conformance/codemode/unavailable-servers.test.ts',
        'listServers has only servers that are there, and diagnostics name the others',
      ],
    ],
  },
  {
    id: 'A15.7',
    clause: '4.1',
    says: '`describeServer(serverId)` describes one server',
    test: [
      ['conformance/codemode/discovery.test.ts', 'lists and describes servers under their normalised names'],
      ['e2e/mcp/discovery.test.ts', 'a program learns which servers and tools there are, and which contract it speaks'],
    ],
  },
  {
    id: 'A15.8',
    clause: '2 (3); 4.1',
    says: '`listTools(serverId, options)` gives the tools of a server',
    test: [
      [
        'conformance/codemode/discovery.test.ts',
        'gives tools at three levels of detail, lower ones without the fields of higher ones',
      ],
      ['e2e/mcp/discovery.test.ts', 'a program learns which servers and tools there are, and which contract it speaks'],
    ],
  },
  {
    id: 'A15.9',
    clause: '4.1',
    says: '`getTool(serverId, toolName)` gives one tool',
    test: [
      ['conformance/codemode/discovery.test.ts', 'gives one tool whole'],
      ['e2e/mcp/discovery.test.ts', 'a program learns which servers and tools there are, and which contract it speaks'],
    ],
  },
  {
    id: 'A15.10',
    clause: '4.1',
    says: '`searchTools(query, options)` finds tools',
    test: [
      ['conformance/codemode/discovery.test.ts', 'finds tools by what they do, ranked, each with its server'],
      ['e2e/mcp/discovery.test.ts', 'a program learns which servers and tools there are, and which contract it speaks'],
    ],
  },
  {
    id: 'A15.11',
    clause: '4.2.1',
    says: 'Information about a server has `serverId`',
    test: ['conformance/codemode/discovery.test.ts', 'lists and describes servers under their normalised names'],
  },
  {
    id: 'A15.12',
    clause: '4.2.1',
    says: 'Information about a server has `serverName`',
    test: ['conformance/codemode/discovery.test.ts', 'lists and describes servers under their normalised names'],
  },
  {
    id: 'A15.13',
    clause: '4.2.1',
    says: 'Information about a server may have `capabilities`, an array of strings',
    test: ['conformance/codemode/discovery.test.ts', 'lists and describes servers under their normalised names'],
  },
  {
    id: 'A15.14',
    clause: '4.2.2',
    says: 'The description of a server has all that the information has',
    test: ['conformance/codemode/discovery.test.ts', 'lists and describes servers under their normalised names'],
  },
  {
    id: 'A15.15',
    clause: '4.2.2',
    says: 'The description of a server may have `description`',
    test: ['conformance/codemode/discovery.test.ts', 'lists and describes servers under their normalised names'],
  },
  {
    id: 'A15.16',
    clause: '4.2.2',
    says: 'The description of a server may have `version`',
    test: ['conformance/codemode/discovery.test.ts', 'lists and describes servers under their normalised names'],
  },
  {
    id: 'A15.17',
    clause: '4.2.3',
    says: 'A tool has `toolName`',
    test: [
      'conformance/codemode/discovery.test.ts',
      'gives tools at three levels of detail, lower ones without the fields of higher ones',
    ],
  },
  {
    id: 'A15.18',
    clause: '4.2.3',
    says: 'A tool has `exportName`',
    test: [
      'conformance/codemode/discovery.test.ts',
      'gives tools at three levels of detail, lower ones without the fields of higher ones',
    ],
  },
  {
    id: 'A15.19',
    clause: '4.2.3',
    says: 'A tool may have `description` and `annotations`',
    test: [
      [
        'conformance/codemode/discovery.test.ts',
        'gives tools at three levels of detail, lower ones without the fields of higher ones',
      ],
      ['e2e/mcp/discovery.test.ts', 'a program learns which servers and tools there are, and which contract it speaks'],
    ],
  },
  {
    id: 'A15.20',
    clause: '4.2.4',
    says: 'A definition has all of a summary and may have `inputSchema` and `outputSchema`',
    test: [
      [
        'conformance/codemode/discovery.test.ts',
        'gives tools at three levels of detail, lower ones without the fields of higher ones',
      ],
      ['conformance/codemode/discovery.test.ts', 'gives one tool whole'],
    ],
  },
  {
    id: 'A16.1',
    clause: '4.2.6; 4.3',
    says: '`listTools` takes `detail`: name, description or full',
    test: [
      'conformance/codemode/discovery.test.ts',
      'gives tools at three levels of detail, lower ones without the fields of higher ones',
    ],
  },
  {
    id: 'A16.2',
    clause: '4.2.6',
    says: '`listTools` without `detail` gives descriptions',
    test: [
      [
        'conformance/codemode/discovery.test.ts',
        'gives tools at three levels of detail, lower ones without the fields of higher ones',
      ],
      [
        'e2e/mcp/discovery.test.ts',
        'each level of detail omits what only higher ones have, and description is the default',
      ],
    ],
  },
  {
    id: 'A16.3',
    clause: '4.2.7; 4.3',
    says: '`searchTools` takes `detail` too',
    test: [
      ['conformance/codemode/discovery.test.ts', 'searches one server, so many hits, in so much detail'],
      [
        'e2e/mcp/discovery.test.ts',
        "search ranks the best tool first, honours server and limit, and names each hit's server",
      ],
    ],
  },
  {
    id: 'A16.4',
    clause: '4.2.7',
    says: '`searchTools` without `detail` gives descriptions',
    test: ['conformance/codemode/discovery.test.ts', 'finds tools by what they do, ranked, each with its server'],
  },
  {
    id: 'A16.5',
    clause: '4.2.6; 4.2.7',
    says: 'Another value for `detail` is refused',
    test: ['conformance/codemode/discovery.test.ts', '%s is refused as a %s with one corrective action'],
  },
  {
    id: 'A16.6',
    clause: '4.3',
    says: 'Detail name gives `toolName` and `exportName` alone',
    test: [
      'conformance/codemode/discovery.test.ts',
      'gives tools at three levels of detail, lower ones without the fields of higher ones',
    ],
  },
  {
    id: 'A16.7',
    clause: '4.3',
    says: 'Detail description adds `description` and `annotations`',
    test: [
      'conformance/codemode/discovery.test.ts',
      'gives tools at three levels of detail, lower ones without the fields of higher ones',
    ],
  },
  {
    id: 'A16.8',
    clause: '4.3',
    says: 'Detail full adds `inputSchema` and `outputSchema`',
    test: [
      'conformance/codemode/discovery.test.ts',
      'gives tools at three levels of detail, lower ones without the fields of higher ones',
    ],
  },
  {
    id: 'A16.9',
    clause: '4.1; 4.2.5',
    says: 'Each level leaves out what only higher ones have, in lists and in hits',
    test: [
      [
        'conformance/codemode/discovery.test.ts',
        'gives tools at three levels of detail, lower ones without the fields of higher ones',
      ],
      ['conformance/codemode/discovery.test.ts', 'searches one server, so many hits, in so much detail'],
    ],
  },
  {
    id: 'A17.1',
    clause: '4.2.5',
    says: 'The answer of a search has `query`',
    test: ['conformance/codemode/discovery.test.ts', 'finds tools by what they do, ranked, each with its server'],
  },
  {
    id: 'A17.2',
    clause: '4.2.5',
    says: 'The answer of a search has `results`, an array of tools',
    test: ['conformance/codemode/discovery.test.ts', 'finds tools by what they do, ranked, each with its server'],
  },
  {
    id: 'A17.3',
    clause: '4.2.5',
    says: 'Each hit of a search has `serverId` besides',
    test: [
      ['conformance/codemode/discovery.test.ts', 'finds tools by what they do, ranked, each with its server'],
      ['conformance/codemode/discovery.test.ts', 'searches one server, so many hits, in so much detail'],
    ],
  },
  {
    id: 'A17.4',
    clause: '4.2.7',
    says: '`serverId` keeps a search to one server',
    test: ['conformance/codemode/discovery.test.ts', 'searches one server, so many hits, in so much detail'],
  },
  {
    id: 'A17.5',
    clause: '4.2.7',
    says: '`limit` bounds the hits',
    test: ['conformance/codemode/discovery.test.ts', 'searches one server, so many hits, in so much detail'],
  },
  {
    id: 'A17.6',
    clause: '4.2.7',
    says: '`limit` is a whole number',
    test: ['conformance/codemode/discovery.test.ts', '%s is refused as a %s with one corrective action'],
  },
  {
    id: 'A17.7',
    clause: '4.2.7',
    says: 'Without `limit` there are as many hits as the host ever gives',
    differs: 'CONFORMANCE.md, A17: without `limit` there are the 10 best hits, with it up to 100.',
  },
  {
    id: 'A18.1',
    clause: '0; 1.1; 4.4',
    says: 'TypeScript declarations of the connected servers are put into the context of the agent',
    test: [
      'e2e/cli/prompt.test.ts',
      'prompt prints what an agent’s client gets: instructions and the tool’s description',
    ],
  },
  {
    id: 'A18.2',
    clause: '4.4',
    says: 'The declarations cover all servers and their tools where these fit the budget',
    test: [
      [
        'prompt/budgets.test.ts',
        'declarations of small servers come at once; many tools get an index and a way to the rest',
      ],
      ['corpus/declarations.test.ts', 'every value that validates fits the declared type'],
    ],
  },
  {
    id: 'A18.3',
    clause: '4.4',
    says: 'The declarations cover every tool of a connected server, however many it has',
    differs:
      'CONFORMANCE.md, A18: beyond the budget of a prompt tools are named only; getTypes() and the resource types.d.ts declare every one.',
  },
  {
    id: 'A18.4',
    clause: '4.4',
    says: 'The declarations that agents are given keep to the rules for declarations',
    test: [
      ['prompt/budgets.test.ts', 'every example and every declaration that is shown is valid TypeScript'],
      [
        'e2e/cli/tools.test.ts',
        'types prints declarations of every schema that compile as they are, whatever is in them',
      ],
    ],
  },
  {
    id: 'A18.5',
    clause: '4.4',
    says: 'Declarations may come later: when a server is first named in `requestedCapabilities` or imported',
    test: [
      'conformance/codemode/declarations.test.ts',
      'too many tools get an index first, and a server’s declarations with its first answer',
    ],
  },
  {
    id: 'A19.1',
    clause: '4.5; 7.1',
    says: '`@codemode/errors` is there',
    test: ['pins/guest-globals.test.ts', 'a program finds these properties on what it is given besides the language'],
  },
  {
    id: 'A19.2',
    clause: '7.1',
    says: '`@codemode/errors` has the six listed classes',
    test: ['pins/guest-globals.test.ts', 'a program finds these properties on what it is given besides the language'],
  },
  {
    id: 'A19.3',
    clause: '7.1',
    says: '`@codemode/errors` has the base class `CodemodeError`',
    test: ['pins/guest-globals.test.ts', 'a program finds these properties on what it is given besides the language'],
  },
  {
    id: 'A19.4',
    clause: '7.1',
    says: 'All error classes extend `CodemodeError`',
    test: ['conformance/codemode/fine-print.test.ts', 'are all CodemodeErrors'],
  },
  {
    id: 'A20.1',
    clause: '2 (3); 5',
    says: 'Each connected server is a module under `@codemode/servers/`',
    test: [
      'conformance/codemode/modules.test.ts',
      'lie under the normalised id of their server, with --2 where two are alike',
    ],
  },
  {
    id: 'A20.2',
    clause: '5, example',
    says: '`import *` of `@codemode/servers/<path>` gives it',
    test: [
      'conformance/codemode/modules.test.ts',
      'lie under the normalised id of their server, with --2 where two are alike',
    ],
  },
  {
    id: 'A20.3',
    clause: '5.0.1',
    says: 'Characters other than a-z, 0-9 and - become -',
    test: [
      ['src/catalog/names.test.ts', 'a server id becomes lower-case letters, digits and single dashes'],
      [
        'conformance/codemode/modules.test.ts',
        'lie under the normalised id of their server, with --2 where two are alike',
      ],
    ],
  },
  {
    id: 'A20.4',
    clause: '5.0.1',
    says: 'Capital letters are made small before other characters are replaced',
    test: [
      ['src/catalog/names.test.ts', 'a server id becomes lower-case letters, digits and single dashes'],
      [
        'conformance/codemode/modules.test.ts',
        'lie under the normalised id of their server, with --2 where two are alike',
      ],
    ],
  },
  {
    id: 'A20.5',
    clause: '5.0.1',
    says: 'Several - in a row become one',
    test: [
      ['src/catalog/names.test.ts', 'a server id becomes lower-case letters, digits and single dashes'],
      [
        'conformance/codemode/modules.test.ts',
        'lie under the normalised id of their server, with --2 where two are alike',
      ],
    ],
  },
  {
    id: 'A20.6',
    clause: '5.0.1',
    says: '- at the beginning and the end is dropped',
    test: [
      ['src/catalog/names.test.ts', 'a server id becomes lower-case letters, digits and single dashes'],
      [
        'conformance/codemode/modules.test.ts',
        'lie under the normalised id of their server, with --2 where two are alike',
      ],
    ],
  },
  {
    id: 'A20.7',
    clause: '5.0.1',
    says: 'Servers whose paths are alike get `--N`',
    test: [
      [
        'src/catalog/names.test.ts',
        'the first in the configuration keeps the clean path, and the others are numbered from 2',
      ],
      [
        'conformance/codemode/modules.test.ts',
        'lie under the normalised id of their server, with --2 where two are alike',
      ],
    ],
  },
  {
    id: 'A20.8',
    clause: '5.0.1',
    says: 'The numbers of alike paths begin at 2',
    test: [
      [
        'src/catalog/names.test.ts',
        'the first in the configuration keeps the clean path, and the others are numbered from 2',
      ],
      [
        'conformance/codemode/modules.test.ts',
        'lie under the normalised id of their server, with --2 where two are alike',
      ],
    ],
  },
  {
    id: 'A20.9',
    clause: '5.0.1',
    says: 'The first of alike servers keeps the clean path',
    test: [
      'src/catalog/names.test.ts',
      'the first in the configuration keeps the clean path, and the others are numbered from 2',
    ],
  },
  {
    id: 'A20.10',
    clause: '5.0.1',
    says: '`__meta__.serverId` is the path',
    test: [
      'conformance/codemode/modules.test.ts',
      'lie under the normalised id of their server, with --2 where two are alike',
    ],
  },
  {
    id: 'A20.11',
    clause: '5.0.1',
    says: 'Discovery names servers by the path',
    test: ['conformance/codemode/discovery.test.ts', 'lists and describes servers under their normalised names'],
  },
  {
    id: 'A21.1',
    clause: '2 (3); 5.1',
    says: 'A server module exports one async function per tool',
    test: [
      ['conformance/codemode/modules.test.ts', 'have one async function a tool and __meta__'],
      [
        'conformance/codemode/modules.test.ts',
        'lie under the normalised id of their server, with --2 where two are alike',
      ],
    ],
  },
  {
    id: 'A21.2',
    clause: '5.1',
    says: 'A server module exports `__meta__`',
    test: ['conformance/codemode/modules.test.ts', 'have one async function a tool and __meta__'],
  },
  {
    id: 'A21.3',
    clause: '5.2',
    says: '`__meta__` has `serverId`',
    test: ['conformance/codemode/modules.test.ts', 'have one async function a tool and __meta__'],
  },
  {
    id: 'A21.4',
    clause: '5.2',
    says: '`__meta__` has `serverName`',
    test: ['conformance/codemode/modules.test.ts', 'have one async function a tool and __meta__'],
  },
  {
    id: 'A21.5',
    clause: '5.2',
    says: '`__meta__` may have `serverVersion`',
    test: ['conformance/codemode/modules.test.ts', 'have one async function a tool and __meta__'],
  },
  {
    id: 'A21.6',
    clause: '5.2',
    says: '`__meta__` has `tools`, each with `toolName` and `exportName`',
    test: [
      ['conformance/codemode/modules.test.ts', 'have one async function a tool and __meta__'],
      ['conformance/codemode/modules.test.ts', 'name their functions after the tools, deterministically and safely'],
    ],
  },
  {
    id: 'A21.7',
    clause: '5.2',
    says: 'A tool in `__meta__` has its description where there is one',
    test: ['conformance/codemode/modules.test.ts', 'have one async function a tool and __meta__'],
  },
  {
    id: 'A22.1',
    clause: '5.3, example',
    says: 'A tool is called as `await server.tool(input)`',
    test: ['conformance/codemode/outer-tool.test.ts', 'an answer is structure, and the same as text'],
  },
  {
    id: 'A22.2',
    clause: '5.3.1',
    says: 'Where the schema is an object, the function takes one argument',
    test: [
      [
        'conformance/codemode/errors.test.ts',
        'is refused before the call leaves the host, with all that is needed to mend it',
      ],
      ['conformance/codemode/errors.test.ts', 'two arguments are one too many, and the hint shows the right call'],
    ],
  },
  {
    id: 'A22.3',
    clause: '5.3.1',
    says: 'Where the schema is empty or absent, the function takes no argument',
    test: [
      'conformance/codemode/modules.test.ts',
      'a tool without input takes nothing or {} ; other roots are passed as they are',
    ],
  },
  {
    id: 'A22.4',
    clause: '5.3.1',
    says: 'Where the schema is empty or absent, the function takes `{}` too',
    test: [
      [
        'conformance/codemode/modules.test.ts',
        'a tool without input takes nothing or {} ; other roots are passed as they are',
      ],
      ['src/broker/arguments/tool-checker.test.ts', 'no schema and an empty one take nothing, and {}'],
    ],
  },
  {
    id: 'A22.5',
    clause: '5.3.1',
    says: 'Where the root of the schema is not an object, the function takes one argument of that type',
    test: [
      [
        'conformance/codemode/modules.test.ts',
        'a tool without input takes nothing or {} ; other roots are passed as they are',
      ],
      ['src/broker/arguments/tool-checker.test.ts', 'a root that is not an object is taken as it is'],
    ],
  },
  {
    id: 'A22.6',
    clause: '5.3.1',
    says: 'The agent is told of schemas whose root is not an object',
    test: ['pins/prompt.test.ts', '%s is what it was'],
  },
  {
    id: 'A23.1',
    clause: '5.3.2',
    says: 'A call gives a JSON value, not the envelope of the protocol',
    test: ['conformance/codemode/modules.test.ts', '%s'],
  },
  {
    id: 'A23.2',
    clause: '5.3.2 (1)',
    says: '`structuredContent` is the value where it is there',
    test: [
      ['conformance/codemode/modules.test.ts', '%s'],
      ['e2e/mcp/data-as-sent.test.ts', 'structuredContent null is a value, and an empty or odd result stays whole'],
    ],
  },
  {
    id: 'A23.3',
    clause: '5.3.2 (1)',
    says: '`content` beside `structuredContent` is ignored',
    test: ['conformance/codemode/modules.test.ts', '%s'],
  },
  {
    id: 'A23.4',
    clause: '5.3.2 (2)',
    says: 'One text block alone is its text',
    test: ['conformance/codemode/modules.test.ts', '%s'],
  },
  {
    id: 'A23.5',
    clause: '5.3.2 (3)',
    says: 'With an image the whole result is given',
    test: ['conformance/codemode/modules.test.ts', '%s'],
  },
  {
    id: 'A23.6',
    clause: '5.3.2 (3)',
    says: 'With sound the whole result is given',
    test: ['conformance/codemode/fine-print.test.ts', 'of a tool that answers with sound is its whole answer'],
  },
  {
    id: 'A23.7',
    clause: '5.3.2 (3)',
    says: 'Binary data in a result is text in base64',
    test: [
      ['conformance/codemode/modules.test.ts', '%s'],
      ['conformance/codemode/outer-tool.test.ts', 'a picture that a program hands over reaches the agent as a picture'],
    ],
  },
  {
    id: 'A23.8',
    clause: '5.3.2 (4)',
    says: 'Where no other rule fits, the whole result is given',
    test: [
      ['conformance/codemode/modules.test.ts', '%s'],
      ['e2e/mcp/data-as-sent.test.ts', 'structuredContent null is a value, and an empty or odd result stays whole'],
    ],
  },
  {
    id: 'A23.9',
    clause: '5.3.2',
    says: 'The unwrapping rules are applied in their order',
    test: ['conformance/codemode/modules.test.ts', '%s'],
  },
  {
    id: 'A23.10',
    clause: '5.3.2',
    says: 'The value of a call is what the server sent, unchanged',
    differs:
      'Credentials that the host holds, and what looks like one, are redacted before the program sees them (docs/security/calls-and-approvals.md). Integers beyond 2^53 are rounded: CONFORMANCE.md, A23.',
  },
  {
    id: 'A24.1',
    clause: '6.1',
    says: 'Each tool name has one stable identifier as export name',
    test: [
      [
        'src/catalog/names.test.ts',
        'on collision the alphabetically first keeps the clean name, whatever the order of the list',
      ],
      ['conformance/codemode/modules.test.ts', 'name their functions after the tools, deterministically and safely'],
    ],
  },
  {
    id: 'A24.2',
    clause: '6.1',
    says: 'Illegal characters become _',
    test: [
      ['src/catalog/names.test.ts', 'each illegal character becomes one underscore'],
      ['conformance/codemode/modules.test.ts', 'name their functions after the tools, deterministically and safely'],
    ],
  },
  {
    id: 'A24.3',
    clause: '6.1',
    says: 'A digit at the beginning gets _ in front, so 123tool is _123tool',
    test: [
      ['src/catalog/names.test.ts', 'a leading digit gets an underscore in front'],
      ['conformance/codemode/modules.test.ts', 'name their functions after the tools, deterministically and safely'],
    ],
  },
  {
    id: 'A24.4',
    clause: '6.1',
    says: 'A reserved word gets _ behind',
    test: [
      ['src/catalog/names.test.ts', 'the name %s gets an underscore behind'],
      ['conformance/codemode/modules.test.ts', 'name their functions after the tools, deterministically and safely'],
    ],
  },
  {
    id: 'A24.5',
    clause: '6.1',
    says: 'The reserved words are the 38 that are listed',
    test: ['src/catalog/names.test.ts', 'each reserved word of the contract gets an underscore behind'],
  },
  {
    id: 'A24.6',
    clause: '6.1',
    says: 'A name that is legal and not on that list stays as it is',
    differs:
      'CONFORMANCE.md, A24: names that no module can declare or that would do harm get _ too, and names are composed (NFC).',
  },
  {
    id: 'A24.7',
    clause: '6.1',
    says: 'Names that come out alike get `__N`',
    test: [
      [
        'src/catalog/names.test.ts',
        'on collision the alphabetically first keeps the clean name, whatever the order of the list',
      ],
      ['conformance/codemode/modules.test.ts', 'name their functions after the tools, deterministically and safely'],
    ],
  },
  {
    id: 'A24.8',
    clause: '6.1',
    says: 'The numbers of alike names begin at 2',
    test: [
      [
        'src/catalog/names.test.ts',
        'suffixes start at 2 in alphabetical order; a later tool of that name gets its own',
      ],
      ['conformance/codemode/modules.test.ts', 'name their functions after the tools, deterministically and safely'],
    ],
  },
  {
    id: 'A24.9',
    clause: '6.1',
    says: 'The first of alike names stays clean',
    test: [
      [
        'src/catalog/names.test.ts',
        'on collision the alphabetically first keeps the clean name, whatever the order of the list',
      ],
      ['conformance/codemode/modules.test.ts', 'name their functions after the tools, deterministically and safely'],
    ],
  },
  {
    id: 'A24.10',
    clause: '6.1',
    says: 'Which of alike names is first is always the same',
    test: [
      'src/catalog/names.test.ts',
      'on collision the alphabetically first keeps the clean name, whatever the order of the list',
    ],
  },
  {
    id: 'A24.11',
    clause: '6.1',
    says: 'Alike names are ordered alphabetically, by the name in the protocol',
    test: [
      [
        'src/catalog/names.test.ts',
        'on collision the alphabetically first keeps the clean name, whatever the order of the list',
      ],
      ['src/catalog/names.test.ts', 'names are ordered by code point, not by UTF-16 unit'],
    ],
  },
  {
    id: 'A24.12',
    clause: '6.1',
    says: '`__meta__` shows which name became which',
    test: [
      'conformance/codemode/modules.test.ts',
      'name their functions after the tools, deterministically and safely',
    ],
  },
  {
    id: 'A25.1',
    clause: '6.2',
    says: 'Declarations are made from the schemas of the tools',
    test: [
      'e2e/cli/tools.test.ts',
      'types prints declarations of every schema that compile as they are, whatever is in them',
    ],
  },
  {
    id: 'A25.2',
    clause: '6.2',
    says: '`enum` is understood',
    test: [
      [
        'e2e/cli/tools.test.ts',
        'types prints declarations of every schema that compile as they are, whatever is in them',
      ],
      ['src/catalog/declarations/typescript/typescript-types.test.ts', '%s'],
    ],
  },
  {
    id: 'A25.3',
    clause: '6.2',
    says: '`const` is understood',
    test: [
      [
        'e2e/cli/tools.test.ts',
        'types prints declarations of every schema that compile as they are, whatever is in them',
      ],
      ['src/catalog/declarations/typescript/typescript-types.test.ts', '%s'],
    ],
  },
  {
    id: 'A25.4',
    clause: '6.2',
    says: '`oneOf` is understood',
    test: [
      [
        'e2e/cli/tools.test.ts',
        'types prints declarations of every schema that compile as they are, whatever is in them',
      ],
      ['src/catalog/declarations/typescript/typescript-types.test.ts', '%s'],
    ],
  },
  {
    id: 'A25.5',
    clause: '6.2',
    says: '`anyOf` is understood',
    test: [
      [
        'e2e/cli/tools.test.ts',
        'types prints declarations of every schema that compile as they are, whatever is in them',
      ],
      ['src/catalog/declarations/typescript/typescript-types.test.ts', '%s'],
    ],
  },
  {
    id: 'A25.6',
    clause: '6.2',
    says: '`nullable` is understood',
    test: [
      [
        'e2e/cli/tools.test.ts',
        'types prints declarations of every schema that compile as they are, whatever is in them',
      ],
      ['src/catalog/declarations/typescript/typescript-types.test.ts', '%s'],
    ],
  },
  {
    id: 'A25.7',
    clause: '6.2',
    says: '`$ref` within the document is understood',
    test: [
      [
        'e2e/cli/tools.test.ts',
        'types prints declarations of every schema that compile as they are, whatever is in them',
      ],
      [
        'src/catalog/declarations/typescript/typescript-types.test.ts',
        'a schema that refers to its root or to a property is named after the tool or the property',
      ],
    ],
  },
  {
    id: 'A25.8',
    clause: '6.2',
    says: 'Schemas of objects that contain themselves are understood',
    test: [
      [
        'e2e/cli/tools.test.ts',
        'types prints declarations of every schema that compile as they are, whatever is in them',
      ],
      [
        'src/catalog/declarations/typescript/typescript-types.test.ts',
        'a schema that refers to its root or to a property is named after the tool or the property',
      ],
    ],
  },
  {
    id: 'A25.9',
    clause: '6.2',
    says: '`additionalProperties` is understood',
    test: [
      [
        'e2e/cli/tools.test.ts',
        'types prints declarations of every schema that compile as they are, whatever is in them',
      ],
      [
        'src/catalog/declarations/typescript/typescript-types.test.ts',
        'other keys stay compatible with the declared properties',
      ],
    ],
  },
  {
    id: 'A25.10',
    clause: '6.2',
    says: '`patternProperties` is understood',
    test: [
      'src/catalog/declarations/typescript/typescript-types.test.ts',
      'keys by pattern become a template where one can say it, else an index signature',
    ],
  },
  {
    id: 'A25.11',
    clause: '6.2',
    says: 'Tuples, `items` as an array, are understood',
    test: [
      [
        'e2e/cli/tools.test.ts',
        'types prints declarations of every schema that compile as they are, whatever is in them',
      ],
      ['src/catalog/declarations/typescript/typescript-types.test.ts', 'a tuple %s'],
    ],
  },
  {
    id: 'A25.12',
    clause: '6.2',
    says: 'What cannot be represented is `unknown`',
    test: [
      [
        'src/catalog/declarations/typescript/typescript-types.test.ts',
        'a reference to another document is never followed',
      ],
      [
        'src/catalog/declarations/typescript/typescript-types.test.ts',
        'definitions that only refer to themselves are unknown',
      ],
    ],
  },
  {
    id: 'A25.13',
    clause: '6.2',
    says: 'A doc comment warns of what cannot be represented',
    test: [
      [
        'src/catalog/declarations/typescript/typescript-types.test.ts',
        'a reference to another document is never followed',
      ],
      [
        'src/catalog/declarations/typescript/typescript-types.test.ts',
        'definitions that only refer to themselves are unknown',
      ],
      [
        'conformance/codemode/fine-print.test.ts',
        'a tool whose schema is unusable takes any object, and its declaration warns',
      ],
    ],
  },
  {
    id: 'A25.14',
    clause: '6.2',
    says: 'Every feature that cannot be represented makes its type `unknown`',
    differs:
      'CONFORMANCE.md, A25: where the rest of a schema says something, that stays as the type, with the warning.',
  },
  {
    id: 'A25.15',
    clause: '6.2',
    says: 'The warning stands in all declarations that an agent is given',
    test: [
      'src/catalog/declarations/typescript/typescript-docs.test.ts',
      'compact keeps a sentence, defaults and formats; every level keeps annotations and warnings',
    ],
  },
  {
    id: 'A26.1',
    clause: '6.3',
    says: 'Annotations stand in the doc comment of the tool',
    test: [
      'src/catalog/declarations/typescript/typescript-docs.test.ts',
      'a tool says its annotations and that it is deprecated (A26)',
    ],
  },
  {
    id: 'A26.2',
    clause: '6.3',
    says: 'Annotations stand in all declarations that an agent is given',
    test: [
      [
        'src/catalog/declarations/typescript/typescript-docs.test.ts',
        'compact keeps a sentence, defaults and formats; every level keeps annotations and warnings',
      ],
      [
        'conformance/codemode/declarations-on-demand.test.ts',
        'every tool of a large server can be had as TypeScript, and the instructions say how',
      ],
    ],
  },
  {
    id: 'A26.3',
    clause: '6.3',
    says: 'Annotations are in `annotations` of a tool summary',
    test: [
      'conformance/codemode/discovery.test.ts',
      'gives tools at three levels of detail, lower ones without the fields of higher ones',
    ],
  },
  {
    id: 'A26.4',
    clause: '6.3',
    says: 'Annotations are in `annotations` of a tool definition',
    test: [
      [
        'conformance/codemode/discovery.test.ts',
        'gives tools at three levels of detail, lower ones without the fields of higher ones',
      ],
      ['conformance/codemode/discovery.test.ts', 'gives one tool whole'],
    ],
  },
  {
    id: 'A26.5',
    clause: '6.3',
    says: 'Every annotation stands there, whatever it says',
    differs:
      'CONFORMANCE.md, A26: the shortest declarations omit hints that mean what their absence means; getTypes() and `annotations` have them all.',
  },
  {
    id: 'A27.1',
    clause: '7.2',
    says: 'Input that does not fit the schema throws a `SchemaValidationError`',
    test: [
      [
        'conformance/codemode/errors.test.ts',
        'is refused before the call leaves the host, with all that is needed to mend it',
      ],
      ['conformance/codemode/errors.test.ts', 'create_issue(%s) says what is wrong'],
    ],
  },
  {
    id: 'A27.2',
    clause: '7.2',
    says: 'A validation error has the name of the tool in the protocol',
    test: [
      [
        'src/broker/arguments/tool-checker.test.ts',
        'an error has everything that the contract asks for, as fields too',
      ],
      [
        'conformance/codemode/errors.test.ts',
        'is refused before the call leaves the host, with all that is needed to mend it',
      ],
    ],
  },
  {
    id: 'A27.3',
    clause: '7.2',
    says: 'A validation error has the name of the export',
    test: [
      [
        'src/broker/arguments/tool-checker.test.ts',
        'an error has everything that the contract asks for, as fields too',
      ],
      [
        'conformance/codemode/errors.test.ts',
        'is refused before the call leaves the host, with all that is needed to mend it',
      ],
    ],
  },
  {
    id: 'A27.4',
    clause: '7.2',
    says: 'A validation error has a JSON Pointer to what is wrong',
    test: [
      [
        'src/broker/arguments/tool-checker.test.ts',
        'an error has everything that the contract asks for, as fields too',
      ],
      [
        'conformance/codemode/errors.test.ts',
        'is refused before the call leaves the host, with all that is needed to mend it',
      ],
    ],
  },
  {
    id: 'A27.5',
    clause: '7.2',
    says: 'A validation error has what was expected',
    test: [
      'src/broker/arguments/tool-checker.test.ts',
      'an error has everything that the contract asks for, as fields too',
    ],
  },
  {
    id: 'A27.6',
    clause: '7.2',
    says: 'A validation error has what was received',
    test: [
      'src/broker/arguments/tool-checker.test.ts',
      'an error has everything that the contract asks for, as fields too',
    ],
  },
  {
    id: 'A27.7',
    clause: '7.2',
    says: 'A validation error has a small example of an input',
    test: [
      [
        'src/broker/arguments/tool-checker.test.ts',
        'an error has everything that the contract asks for, as fields too',
      ],
      [
        'conformance/codemode/errors.test.ts',
        'is refused before the call leaves the host, with all that is needed to mend it',
      ],
    ],
  },
  {
    id: 'A27.8',
    clause: '7.2',
    says: 'Examples of the schema are used for the example',
    test: [
      [
        'conformance/codemode/errors.test.ts',
        'is refused before the call leaves the host, with all that is needed to mend it',
      ],
      ['src/catalog/examples.test.ts', "the schema's own example comes first, then its default, then made-up values"],
    ],
  },
  {
    id: 'A27.9',
    clause: '7.2',
    says: 'Where the schema has no examples, one is made up',
    test: [
      [
        'src/broker/arguments/tool-checker.test.ts',
        'an error has everything that the contract asks for, as fields too',
      ],
      ['src/catalog/examples.test.ts', "the schema's own example comes first, then its default, then made-up values"],
    ],
  },
  {
    id: 'A28.1',
    clause: '1.1; 7',
    says: 'Errors have a structure that helps to correct the program',
    test: [
      [
        'conformance/codemode/errors.test.ts',
        'is refused before the call leaves the host, with all that is needed to mend it',
      ],
      ['conformance/codemode/errors.test.ts', 'by the tool’s own verdict are a ToolCallError with its words'],
    ],
  },
  {
    id: 'A28.2',
    clause: '7.3',
    says: 'Each error has a `hint`, a string',
    test: [
      ['conformance/codemode/discovery.test.ts', '%s is refused as a %s with one corrective action'],
      [
        'corpus/arguments.test.ts',
        'every error has one short hint, a bounded message and an example that the tool takes',
      ],
      ['conformance/codemode/errors.test.ts', 'by the tool’s own verdict are a ToolCallError with its words'],
      ['e2e/runs/policy.test.ts', 'allows, asks and denies, with the reason and the one thing to do'],
    ],
  },
  {
    id: 'A28.3',
    clause: '7.3',
    says: 'The error of a call past the cap has a `hint` too',
    test: ['conformance/codemode/fine-print.test.ts', 'of calls past the cap have a hint'],
  },
  {
    id: 'A28.4',
    clause: '7.3',
    says: 'The hint is one thing to do',
    test: [
      [
        'corpus/arguments.test.ts',
        'every error has one short hint, a bounded message and an example that the tool takes',
      ],
      ['conformance/codemode/discovery.test.ts', '%s is refused as a %s with one corrective action'],
    ],
  },
  {
    id: 'A29.1',
    clause: '7.1',
    says: '`SchemaValidationError`: the input does not fit',
    test: [
      'conformance/codemode/errors.test.ts',
      'is refused before the call leaves the host, with all that is needed to mend it',
    ],
  },
  {
    id: 'A29.2',
    clause: '7.1',
    says: '`ToolNotFoundError`: discovery was asked for a tool that the server does not have',
    test: [
      ['conformance/codemode/discovery.test.ts', '%s is refused as a %s with one corrective action'],
      ['e2e/mcp/discovery.test.ts', 'a program learns which servers and tools there are, and which contract it speaks'],
    ],
  },
  {
    id: 'A29.3',
    clause: '7.1',
    says: '`ToolNotFoundError`: a program calls or imports a tool that the server does not have',
    differs:
      'CONFORMANCE.md, A29: a module cannot answer for what it does not export, so the program meets a TypeError or a failed import; errorClass of the diagnostic is ToolNotFoundError, with the nearest tool as hint (conformance/codemode/unavailable-servers.test.ts).',
  },
  {
    id: 'A29.4',
    clause: '7.1',
    says: '`ServerNotFoundError`: discovery was asked for a server that is not there',
    test: ['conformance/codemode/discovery.test.ts', '%s is refused as a %s with one corrective action'],
  },
  {
    id: 'A29.5',
    clause: '7.1',
    says: '`ServerNotFoundError`: a program imports a server that is not there',
    test: [
      [
        'conformance/codemode/unavailable-servers.test.ts',
        'a program can catch what a dynamic import and discovery throw',
      ],
      ['conformance/codemode/unavailable-servers.test.ts', '%s fails once, with the server and its reason'],
    ],
  },
  {
    id: 'A29.6',
    clause: '7.1',
    says: '`ToolCallError`: the tool answered with `isError`',
    test: ['conformance/codemode/errors.test.ts', 'by the tool’s own verdict are a ToolCallError with its words'],
  },
  {
    id: 'A29.7',
    clause: '7.1',
    says: '`AuthenticationError`: the server refused the call for want of credentials',
    test: [
      [
        'e2e/cli/auth.test.ts',
        'a person logs in by browser, programs call tools, a running host notices, logout revokes',
      ],
      ['e2e/cli/auth.test.ts', 'a tool that needs more scopes says so, and the next login asks for them'],
    ],
  },
  {
    id: 'A29.8',
    clause: '7.1; 7.4',
    says: '`SandboxLimitError`: the time is over',
    test: [
      ['sandbox/limits.test.ts', '%s ends at the time limit and cannot be caught'],
      ['e2e/cli/run-command.test.ts', 'stops at the limits that were typed'],
    ],
  },
  {
    id: 'A29.9',
    clause: '7.1; 7.4',
    says: '`SandboxLimitError`: the memory is used up',
    test: ['conformance/codemode/fine-print.test.ts', 'of a program that used up its memory say SandboxLimitError'],
  },
  {
    id: 'A29.10',
    clause: '7.1; 7.4',
    says: '`SandboxLimitError`: the calls are used up',
    test: [
      [
        'conformance/codemode/errors.test.ts',
        'past the cap are a SandboxLimitError that can be caught, again and again',
      ],
      ['conformance/codemode/errors.test.ts', 'past the cap are a SANDBOX_LIMIT where nobody catches them'],
    ],
  },
  {
    id: 'A30.1',
    clause: '7.4',
    says: 'What was logged before a limit ended the program is in the response',
    test: [
      'e2e/mcp/cancellation.test.ts',
      'at a time limit the in-flight call is cancelled at the server, and logs are returned',
    ],
  },
  {
    id: 'A30.2',
    clause: '7.4',
    says: 'Calls completed before a limit need not be shown except in logs',
    test: ['conformance/codemode/fine-print.test.ts', 'is there for calls that were over before a limit'],
  },
  {
    id: 'A31.1',
    clause: '7.4',
    says: 'Cancelling a run cancels the calls that are under way',
    test: [
      ['e2e/mcp/cancellation.test.ts', 'a withdrawn call ends its run and is cancelled at the server, over stdio, %s'],
      ['sandbox/cancellation.test.ts', 'while it waits for a call ends at once, with its logs, and the call is told'],
    ],
  },
  {
    id: 'A31.2',
    clause: '7.4',
    says: 'Cancelling a run ends its program',
    test: ['sandbox/cancellation.test.ts', 'while it computes ends, and its neighbours come to their right end'],
  },
  {
    id: 'A31.3',
    clause: '7.4',
    says: 'Servers are told of a cancelled call by the cancellation notification of MCP',
    test: [
      ['e2e/mcp/cancellation.test.ts', 'a withdrawn call ends its run and is cancelled at the server, over stdio, %s'],
      ['upstream/everyday.test.ts', 'a cancelled call ends at once, and the server is told'],
    ],
  },
  {
    id: 'A32.1',
    clause: '8',
    says: 'When a server says that its tools have changed, they are read anew',
    test: [
      [
        'e2e/mcp/tool-changes.test.ts',
        'changed tools count from the next run on, and the client is told, over stdio, %s',
      ],
      ['upstream/awkward.test.ts', 'a changed list is announced and read again'],
    ],
  },
  {
    id: 'A32.2',
    clause: '8.1',
    says: 'Changed tools are read before the next run that imports the server',
    test: ['e2e/mcp/waiting-for-servers.test.ts', 'are seen by the very next program: announced %s, %s era'],
  },
  {
    id: 'A32.3',
    clause: '8.2',
    says: 'A run under way keeps the tools that it began with',
    test: [
      [
        'e2e/mcp/tool-changes.test.ts',
        'changed tools count from the next run on, and the client is told, over stdio, %s',
      ],
      ['e2e/mcp/waiting-for-servers.test.ts', 'are seen by the very next program: announced %s, %s era'],
    ],
  },
  {
    id: 'A32.4',
    clause: '8.2',
    says: 'The next run sees the changed tools',
    test: [
      [
        'e2e/mcp/tool-changes.test.ts',
        'changed tools count from the next run on, and the client is told, over stdio, %s',
      ],
      ['e2e/mcp/waiting-for-servers.test.ts', 'are seen by the very next program: announced %s, %s era'],
    ],
  },
  {
    id: 'A33.1',
    clause: '10',
    says: 'A program may import several server modules',
    test: [
      'conformance/codemode/outer-tool.test.ts',
      'calls to several servers run in parallel, and one that fails does not end the others',
    ],
  },
  {
    id: 'A33.2',
    clause: '10',
    says: 'A program may combine calls to several servers',
    test: [
      [
        'conformance/codemode/outer-tool.test.ts',
        'calls to several servers run in parallel, and one that fails does not end the others',
      ],
      ['e2e/cli/examples.test.ts', 'one program joins data of two servers'],
    ],
  },
  {
    id: 'A33.3',
    clause: '10',
    says: 'A server call that fails throws a `ToolCallError` or a subclass',
    test: [
      [
        'conformance/codemode/outer-tool.test.ts',
        'calls to several servers run in parallel, and one that fails does not end the others',
      ],
      [
        'conformance/codemode/errors.test.ts',
        'by a server that dies midway throw a ToolCallError with open outcome; the server returns',
      ],
      ['e2e/runs/policy.test.ts', 'end a call that takes longer than it may'],
    ],
  },
  {
    id: 'A33.4',
    clause: '7.1; 10',
    says: '`AuthenticationError` is a subclass of `ToolCallError`',
    test: ['conformance/codemode/fine-print.test.ts', 'of authentication are errors of a call'],
  },
  {
    id: 'A33.5',
    clause: '10',
    says: 'A failed call is an ordinary exception that a program can catch',
    test: [
      [
        'conformance/codemode/outer-tool.test.ts',
        'calls to several servers run in parallel, and one that fails does not end the others',
      ],
      ['e2e/mcp/stdio.test.ts', 'a server that crashes during a run costs one call and is back for the next'],
    ],
  },
  {
    id: 'A33.6',
    clause: '10',
    says: 'A failed call does not end the program',
    test: [
      ['conformance/codemode/errors.test.ts', 'one of several does not abort the program'],
      [
        'conformance/codemode/outer-tool.test.ts',
        'calls to several servers run in parallel, and one that fails does not end the others',
      ],
    ],
  },
  {
    id: 'A33.7',
    clause: '10',
    says: 'A limit of the sandbox ends the program',
    test: ['sandbox/limits.test.ts', '%s ends at the time limit and cannot be caught'],
  },
  {
    id: 'A33.8',
    clause: '10.1',
    says: 'Calls of one program run at the same time',
    test: [
      'conformance/codemode/outer-tool.test.ts',
      'calls to several servers run in parallel, and one that fails does not end the others',
    ],
  },
  {
    id: 'A33.9',
    clause: '10.1, example',
    says: '`Promise.all` over calls to two servers works',
    test: ['conformance/codemode/modules.test.ts', 'several of them work together in one program, in parallel'],
  },
  {
    id: 'A33.10',
    clause: '10.1',
    says: 'The agent is told how it stands with concurrency',
    test: ['prompt/facts.test.ts', 'say %s'],
  },
  {
    id: 'A34.1',
    clause: '11',
    says: 'Results do not pollute prototypes',
    test: [
      ['attacks/prototype-pollution.test.ts', 'in a result: they are own data of that result'],
      ['conformance/codemode/modules.test.ts', 'a result with hostile keys is plain data and pollutes nothing'],
    ],
  },
  {
    id: 'A34.2',
    clause: '11',
    says: 'What a program sends does not pollute the host',
    test: [
      'attacks/prototype-pollution.test.ts',
      'in arguments, results and logs on their way to the host: its own prototypes stay clean',
    ],
  },
  {
    id: 'A34.3',
    clause: '11',
    says: 'No object of the host can be reached from a program',
    test: [
      ['attacks/host-objects.test.ts', '%s'],
      ['attacks/host-objects.test.ts', '%s is never called with call sites'],
    ],
  },
  {
    id: 'A34.4',
    clause: '11',
    says: 'What servers answer is treated as untrusted',
    test: [
      ['conformance/codemode/modules.test.ts', 'a result with hostile keys is plain data and pollutes nothing'],
      [
        'conformance/codemode/errors.test.ts',
        'an answer that breaks the tool’s own schema reaches the program, with a warning',
      ],
      [
        'attacks/prototype-pollution.test.ts',
        'in the fields of an error: the error keeps its class, stack and message',
      ],
    ],
  },
  {
    id: 'A34.5',
    clause: '11',
    says: 'What servers say of themselves and their tools is treated as untrusted',
    test: [
      ['attacks/text-in-declarations.test.ts', 'gives a file that compiles and declares what it is to declare'],
      ['attacks/text-in-prompt.test.ts', 'puts its words only behind a mark that says whose they are'],
    ],
  },
  {
    id: 'A34.6',
    clause: '11',
    says: 'A program cannot change the exports of `@codemode/*` modules',
    test: [
      ['attacks/bindings.test.ts', '%s'],
      [
        'attacks/bindings.test.ts',
        'a module that is loaded after everything was patched is as hard as one loaded before',
      ],
    ],
  },
  {
    id: 'A34.7',
    clause: '11',
    says: 'A program cannot get behind the bindings',
    test: [
      ['attacks/bindings.test.ts', 'statically, as a name, a namespace, a re-export or a side effect'],
      ['attacks/bindings.test.ts', 'through any name a program could try'],
    ],
  },
  {
    id: 'A35.1',
    clause: '11',
    says: 'Time limits keep a program from exhausting the machine',
    test: [
      ['attacks/time.test.ts', 'a loop in %s ends at the time limit'],
      ['sandbox/limits.test.ts', '%s ends at the time limit and cannot be caught'],
    ],
  },
  {
    id: 'A35.2',
    clause: '11',
    says: 'Memory limits keep a program from exhausting the machine',
    test: [
      ['attacks/memory.test.ts', '%s'],
      ['sandbox/limits.test.ts', '%s past the limit end the program, and cannot be survived'],
    ],
  },
  {
    id: 'A35.3',
    clause: '11',
    says: 'Caps on tool calls keep a program from exhausting the machine',
    test: [
      [
        'conformance/codemode/errors.test.ts',
        'past the cap are a SandboxLimitError that can be caught, again and again',
      ],
      ['attacks/floods.test.ts', '%s: it comes to a fitting end, and another caller’s programs to their right one'],
    ],
  },
  {
    id: 'A36.1',
    clause: '3.2.1',
    says: 'Syntax that is not supported is told',
    test: [
      ['prompt/facts.test.ts', 'say %s'],
      ['prompt/facts.test.ts', '%s: as the instructions say'],
    ],
  },
  {
    id: 'A36.2',
    clause: '3.2.1',
    says: 'Every restriction on programs is told',
    differs:
      'The most levels of nesting (1,000) are told to who exceeds them, and in the guide: a sentence in every prompt would cost each agent tokens for what no agent writes. The most bytes of a source (262,144) are in the prompt.',
  },
  {
    id: 'A36.3',
    clause: '3.2.3',
    says: 'How capabilities are named is told',
    test: ['prompt/facts.test.ts', 'say %s'],
  },
  {
    id: 'A36.4',
    clause: '3.2.4',
    says: 'The keys of `limits` are told',
    test: ['prompt/facts.test.ts', 'name the limit %s with default and maximum'],
  },
  {
    id: 'A36.5',
    clause: '3.5',
    says: 'Where globals differ from the list is told',
    test: [
      ['prompt/facts.test.ts', 'mention %s'],
      [
        'prompt/facts.test.ts',
        'globals documented as missing are missing, documented ones exist, and there are no others',
      ],
    ],
  },
  {
    id: 'A36.6',
    clause: '3.5',
    says: 'Every global that differs from the list is told',
    differs:
      'CONFORMANCE.md, A36: what every JavaScript has (encodeURI, further classes of errors) is not told; everything beyond that is.',
  },
  { id: 'A36.7', clause: '5.3.2', says: 'The unwrapping rules are told', test: ['prompt/facts.test.ts', 'say %s'] },
  {
    id: 'A36.8',
    clause: '3.2.2',
    says: 'That the result has to be assigned is told',
    test: [
      ['prompt/facts.test.ts', 'say %s'],
      ['prompt/facts.test.ts', 'says %s'],
    ],
  },
  {
    id: 'A36.9',
    clause: '9',
    says: 'Agents are advised to filter and aggregate before they log',
    test: [
      ['prompt/facts.test.ts', 'say %s'],
      ['prompt/facts.test.ts', 'says %s'],
    ],
  },
  {
    id: 'A36.10',
    clause: '9',
    says: 'Agents are advised to prefer summaries, counts and top-N',
    test: ['prompt/facts.test.ts', 'say %s'],
  },
  {
    id: 'A36.11',
    clause: '3.5',
    says: 'Agents are advised against polling loops',
    test: ['conformance/codemode/fine-print.test.ts', 'agents are advised not to poll in loops'],
  },
];
