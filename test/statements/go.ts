import type { Statement } from './statement.js';

const PROFILE = 'e2e/runs/go-profile.test.ts';
const PROGRAMS = 'sandbox/go-programs.test.ts';
const EXCLUDED = 'e2e/mcp/excluded-tools.test.ts';
const DIRECT = 'e2e/mcp/direct-tools.test.ts';
const DECLARED = 'src/catalog/declarations/go/go.test.ts';
const DOCUMENT = 'src/catalog/declarations/go/go-document.test.ts';

const LISTS = 'lists one tool, in the words of the document, with rules and declarations';
const EXAMPLE = "runs the document's example, corrected so that it compiles";
const OWN_WORDS = "the document's own tools are declared in its own words";
const KEPT = 'connections outlive a run, and a lost one is an error value';
const NOT_FOR_CODE = 'excluded tools are listed as they are, and are not there for code';
const BY_MODEL = 'a named model decides which tools are excluded, over both doors';

/** Document E, statement by statement. The words are ours. */
export const GO_STATEMENTS: readonly Statement[] = [
  // E1: the tool
  {
    id: 'E1.1',
    clause: 'Introduction',
    says: 'An agent runs Go code that uses the tools of MCP servers',
    test: [PROFILE, EXAMPLE],
  },
  {
    id: 'E1.2',
    clause: 'Overview',
    says: 'Several calls with logic between them are done in one turn',
    test: [PROFILE, EXAMPLE],
  },
  {
    id: 'E1.3',
    clause: 'Comparison',
    says: 'A task takes fewer turns of the dialogue than calling tools one by one',
    test: [PROFILE, EXAMPLE],
  },
  {
    id: 'E1.4',
    clause: 'Comparison',
    says: 'Arguments and results of single calls do not pass through the model; only what is printed does',
    test: [PROFILE, EXAMPLE],
  },
  {
    id: 'E1.5',
    clause: 'Comparison',
    says: 'Over a long dialogue with many tools it costs fewer tokens',
    measured: '`codemode measure --profile go` prints both costs for the configured servers',
  },
  {
    id: 'E1.6',
    clause: 'Architecture 1',
    says: 'In code mode one tool is listed, and the single MCP tools are not',
    test: [PROFILE, LISTS],
  },
  {
    id: 'E1.7',
    clause: 'Architecture 1',
    says: 'A hidden tool is not answered by its name either',
    test: [PROFILE, NOT_FOR_CODE],
  },
  { id: 'E1.8', clause: 'Architecture 1, name', says: 'The tool is called `execute_go_code`', test: [PROFILE, LISTS] },
  { id: 'E1.9', clause: 'Architecture 1, title', says: 'Its title is that of the document', test: [PROFILE, LISTS] },
  {
    id: 'E1.10',
    clause: 'Architecture 1, inputSchema',
    says: 'Its input is an object with the required string `code`',
    test: [PROFILE, LISTS],
  },
  {
    id: 'E1.11',
    clause: 'Architecture 1, inputSchema',
    says: '`code` has the description of the document, its slip of the pen corrected',
    test: ['e2e/runs/go-profile.test.ts', 'lists one tool, in the words of the document, with rules and declarations'],
  },
  {
    id: 'E1.12',
    clause: 'Architecture 1, outputSchema',
    says: 'Its output is an object with the required string `output`, described as in the document',
    test: [PROFILE, LISTS],
  },
  {
    id: 'E1.13',
    clause: 'Example, tool result',
    says: '`output` is what the program printed',
    test: [PROFILE, EXAMPLE],
  },
  {
    id: 'E1.14',
    clause: 'Architecture 1, description',
    says: 'The description says that the code becomes the body of a function `Run`',
    test: [PROFILE, LISTS],
  },
  {
    id: 'E1.15',
    clause: 'Architecture 1, description',
    says: 'The description says that functions are assigned to variables, with the example of the document',
    test: ['e2e/runs/go-profile.test.ts', 'lists one tool, in the words of the document, with rules and declarations'],
  },
  {
    id: 'E1.16',
    clause: 'Architecture 1, description',
    says: 'The description says that there is the standard library, and then lists the functions',
    test: ['e2e/runs/go-profile.test.ts', 'lists one tool, in the words of the document, with rules and declarations'],
  },
  {
    id: 'E1.17',
    clause: 'Architecture 2',
    says: 'The description has the declarations of the connected tools, made from what the servers list',
    test: [PROFILE, LISTS],
  },
  {
    id: 'E1.18',
    clause: 'Architecture 2',
    says: 'They are made when the session is set up, not written by hand',
    test: [PROFILE, LISTS],
  },
  {
    id: 'E1.19',
    clause: 'Architecture 1, description',
    says: 'All functions are declared in the description, however many there are',
    differs:
      'CONFORMANCE.md, E1: beyond prompt.tokenBudget tools are named in an index, and their types come on demand',
  },

  // E2: types
  {
    id: 'E2.1',
    clause: 'Architecture 2',
    says: 'Schemas become Go structs, one for the input and one for the output of a tool',
    test: [DOCUMENT, OWN_WORDS],
  },
  {
    id: 'E2.2',
    clause: 'Architecture 1, declarations',
    says: 'The struct is called after the tool: `GetWeatherInput`, `GetWeatherOutput`',
    test: [DOCUMENT, OWN_WORDS],
  },
  {
    id: 'E2.3',
    clause: 'Architecture 1, declarations',
    says: 'A field is the property in exported spelling with its name in a JSON tag',
    test: [DOCUMENT, OWN_WORDS],
  },
  {
    id: 'E2.4',
    clause: 'Architecture 1, declarations',
    says: 'A field has its name and the description of the property as a comment above it',
    test: [DOCUMENT, OWN_WORDS],
  },
  {
    id: 'E2.5',
    clause: 'Architecture 1, declarations',
    says: 'A string is `string`, a number is `float64`',
    test: [DECLARED, '%s'],
  },
  {
    id: 'E2.6',
    clause: 'Architecture 1, declarations',
    says: 'An enumeration is a string type called after struct and field',
    test: [DOCUMENT, OWN_WORDS],
  },
  {
    id: 'E2.7',
    clause: 'Architecture 1, declarations',
    says: 'Each of its values is a typed constant called after the type and the value',
    test: [DOCUMENT, OWN_WORDS],
  },
  {
    id: 'E2.8',
    clause: 'Architecture 1, declarations',
    says: 'The declarations stand in the order of the document: enumeration first, its last value first',
    differs:
      'CONFORMANCE.md, E2: a struct stands before the types of its fields and values in the order of the schema; Go takes any order',
  },
  {
    id: 'E2.9',
    clause: 'Architecture 1, declarations',
    says: '`City` has the plain tag `json:"city"`',
    differs: 'CONFORMANCE.md, E2: the schema of the example does not require `city`, so an empty one is not sent',
  },
  {
    id: 'E2.10',
    clause: 'Overview',
    says: 'Calls are checked by type: a field that is not there does not compile',
    test: [PROFILE, 'where declarations do not fit, the description has an index, and errors bring the types'],
  },
  {
    id: 'E2.11',
    clause: 'Architecture 2',
    says: 'The declarations that the agent reads are those that its code is compiled with',
    test: ['corpus/go-declarations.test.ts', 'the agent and the compiler see the same types, in every detail'],
  },
  {
    id: 'E2.12',
    clause: 'Architecture 2',
    says: 'What is generated for tools as found in the field compiles',
    test: ['corpus/go-declarations.test.ts', 'all tools compile in one package, and are as gofmt writes them, %s'],
  },

  // E3: functions
  {
    id: 'E3.1',
    clause: 'Architecture 1, declarations',
    says: 'A tool is a function variable: `var getWeather func(ctx, input) (output, error)`',
    test: [PROFILE, LISTS],
  },
  {
    id: 'E3.2',
    clause: 'Architecture 1, declarations',
    says: 'The name of the tool becomes a name in camel case',
    test: [DECLARED, '%s is called %s'],
  },
  {
    id: 'E3.3',
    clause: 'Architecture 1, declarations',
    says: 'Its comment is the name and the description of the tool',
    test: [PROFILE, LISTS],
  },
  {
    id: 'E3.4',
    clause: 'Example, get_city',
    says: 'A tool whose input schema is empty takes only `ctx`',
    test: [DOCUMENT, OWN_WORDS],
  },
  {
    id: 'E3.5',
    clause: 'Architecture 2, callMcpTool',
    says: 'The tool is called by its protocol name, with the input as JSON',
    test: [PROGRAMS, "the document's example runs, with its mistakes corrected"],
  },
  {
    id: 'E3.6',
    clause: 'Architecture 2, callMcpTool',
    says: 'Structured content is decoded into the output',
    test: [PROFILE, EXAMPLE],
  },
  {
    id: 'E3.7',
    clause: 'Architecture 2, callMcpTool',
    says: 'Structured content goes before text',
    test: ['conformance/go/programs.test.ts', 'gets structured content before text, and else the text read as JSON'],
  },
  {
    id: 'E3.8',
    clause: 'Architecture 2, callMcpTool',
    says: 'Without structured content the only text is decoded as JSON into the output',
    test: ['conformance/go/programs.test.ts', 'gets structured content before text, and else the text read as JSON'],
  },
  {
    id: 'E3.9',
    clause: 'Architecture 2, callMcpTool',
    says: 'A tool that answers with `isError` gives an error value with its text',
    test: ['conformance/go/programs.test.ts', 'gets the text of an isError result as the text of the error'],
  },
  {
    id: 'E3.10',
    clause: 'Architecture 2, callMcpTool',
    says: 'A call that cannot be made panics',
    differs: 'CONFORMANCE.md, E3: it is an error value, so that code can go on with its other calls',
  },
  {
    id: 'E3.11',
    clause: 'Architecture 2, callMcpTool',
    says: 'An answer with none or several content blocks panics',
    differs:
      'CONFORMANCE.md, E3: structured content needs no block beside it, and several blocks come as the whole result',
  },
  {
    id: 'E3.12',
    clause: 'Architecture 2, callMcpTool',
    says: 'A result that does not fit the output type panics',
    differs: 'CONFORMANCE.md, E3: it is an error value that names the field',
  },
  {
    id: 'E3.13',
    clause: 'Architecture 2, preamble',
    says: 'A generic function `callMcpTool` is there for the code to see',
    differs:
      'CONFORMANCE.md, E3: the helper is `callTool(ctx, server, tool, input)`; there is no session that code could pass',
  },

  // E4: the body of Run
  {
    id: 'E4.1',
    clause: 'Architecture 1, description',
    says: 'The code is put into the body of a function',
    test: [PROFILE, EXAMPLE],
  },
  {
    id: 'E4.2',
    clause: 'Architecture 1, description',
    says: 'The function is `Run() err`, without parameters',
    differs:
      'CONFORMANCE.md, E4: it is `Run(ctx context.Context) error`: `err` is no type, and the example itself uses `ctx`',
  },
  {
    id: 'E4.3',
    clause: 'Example, code',
    says: '`ctx` is there for the code',
    test: [PROFILE, EXAMPLE],
  },
  {
    id: 'E4.4',
    clause: 'Example, code',
    says: '`return err` ends the program with that error',
    test: [PROFILE, 'a returned error and a panic come with what was printed before'],
  },
  {
    id: 'E4.5',
    clause: 'Example, code',
    says: 'A last `return nil` may be left out',
    test: [PROFILE, EXAMPLE],
  },
  {
    id: 'E4.6',
    clause: 'Architecture 1, description',
    says: 'A named function cannot be declared',
    test: [PROGRAMS, '%s is refused with a clear error'],
  },
  {
    id: 'E4.7',
    clause: 'Architecture 1, description, example',
    says: 'A function that is assigned to a variable can be called',
    test: [PROGRAMS, 'a returned error and a panic are reported with what was printed before'],
  },
  {
    id: 'E4.8',
    clause: 'Architecture 2',
    says: 'Types and functions are compiled in front of the code: the code uses them without declaring them',
    test: [PROFILE, EXAMPLE],
  },
  {
    id: 'E4.9',
    clause: 'Architecture 2',
    says: 'The whole preamble is compiled with every program',
    differs:
      'CONFORMANCE.md, E4: only what the code names is compiled with it, which no code can tell and which saves the wait',
  },
  {
    id: 'E4.10',
    clause: 'Architecture 2, preamble',
    says: 'A program that panics is answered as a failed run',
    test: [PROFILE, 'a returned error and a panic come with what was printed before'],
  },

  // E5: compiler and machine
  {
    id: 'E5.1',
    clause: 'Introduction',
    says: 'The code is real Go, compiled by a toolchain and run',
    test: [PROFILE, EXAMPLE],
  },
  {
    id: 'E5.2',
    clause: 'Introduction',
    says: 'The code reaches the system of the user',
    differs:
      'docs/security/jail-and-workers.md: a program in Go runs alone in a jail without files, network, environment or children; it acts through tools',
  },
  {
    id: 'E5.3',
    clause: 'Architecture 2, preamble',
    says: 'The program starts servers and talks to them itself',
    differs:
      'docs/security/calls-and-approvals.md: credentials and connections stay in the host, calls of a program pass its broker',
  },
  {
    id: 'E5.4',
    clause: 'Architecture 2, preamble',
    says: 'A call of a tool is made when the code makes it',
    differs:
      'CONFORMANCE.md, E5: a call that the policy marks `ask` waits for a person, or is an error that says what to type',
  },

  // E6: the standard library
  {
    id: 'E6.1',
    clause: 'Architecture 1, description',
    says: 'Packages of the standard library are there for the code',
    test: [PROFILE, 'packages are imported by use or by name, and neither network nor files are there'],
  },
  {
    id: 'E6.2',
    clause: 'Example, code',
    says: '`fmt` is used without an import',
    test: [PROFILE, EXAMPLE],
  },
  {
    id: 'E6.3',
    clause: 'Architecture 1, description',
    says: 'The whole of it is there, rare packages too',
    test: [
      'sandbox/go-packages.test.ts',
      'a rare one is compiled by the first program that imports it, and no other with it',
    ],
  },
  {
    id: 'E6.4',
    clause: 'Architecture 2, preamble',
    says: '`exec.Command` starts programs of the machine',
    differs: 'docs/security/jail-and-workers.md: a program in Go has no children and no file but its own',
  },
  {
    id: 'E6.5',
    clause: 'Architecture 1, description',
    says: 'Nothing beyond the standard library and the functions can be imported',
    test: [PROGRAMS, '%s is refused with a clear error'],
  },

  // E7: configuration, excluded tools
  {
    id: 'E7.1',
    clause: 'Configuration',
    says: '`defaults.codeMode` of the configuration file counts for all models',
    test: [EXCLUDED, 'a tool excluded under %s is listed as it is, and code does not reach it'],
  },
  {
    id: 'E7.2',
    clause: 'Configuration',
    says: '`enabled: true` hides the tools and gives the one that runs code',
    test: [
      [EXCLUDED, 'a model without its own codeMode keeps the defaults, and a partial one the missing key'],
      [DIRECT, BY_MODEL],
    ],
  },
  {
    id: 'E7.3',
    clause: 'Configuration',
    says: '`enabled: false` lists every tool as it is, and none that runs code',
    test: [EXCLUDED, 'without code mode every tool is listed, and nothing that runs code, in every profile'],
  },
  {
    id: 'E7.4',
    clause: 'Configuration',
    says: '`excludedTools` is a list of tool names',
    test: [DIRECT, 'excluded tools are listed and called as they are, and not from code, %s'],
  },
  {
    id: 'E7.5',
    clause: 'Configuration',
    says: '`models` is a list; an entry has `ref` and `codeMode`',
    test: [DIRECT, BY_MODEL],
  },
  {
    id: 'E7.6',
    clause: 'Configuration',
    says: 'What a model says goes before the defaults',
    test: [DIRECT, BY_MODEL],
  },
  {
    id: 'E7.7',
    clause: 'Configuration',
    says: 'The host knows which model it serves',
    test: [DIRECT, BY_MODEL],
  },
  {
    id: 'E7.8',
    clause: 'Configuration, note',
    says: 'An excluded tool cannot be called from Go code',
    test: [PROFILE, NOT_FOR_CODE],
  },
  {
    id: 'E7.9',
    clause: 'Configuration, note',
    says: 'An excluded tool is listed as a regular tool and answers as one',
    test: [PROFILE, NOT_FOR_CODE],
  },
  {
    id: 'E7.10',
    clause: 'Configuration, note',
    says: 'It is listed under its own name',
    differs:
      'CONFORMANCE.md, E7: where model APIs refuse the name it is spelt otherwise; a call by its own name is answered too',
  },
  {
    id: 'E7.11',
    clause: 'Configuration, reasons',
    says: 'Images and other media of an excluded tool reach the model',
    test: [DIRECT, 'excluded tools are listed and called as they are, and not from code, %s'],
  },
  {
    id: 'E7.12',
    clause: 'Configuration, reasons',
    says: 'A model that was trained on a tool finds it with its description and schema',
    test: [DIRECT, 'excluded tools are listed and called as they are, and not from code, %s'],
  },

  // E8: connections
  {
    id: 'E8.1',
    clause: 'Configuration, reasons',
    says: 'Excluded tools use one long-lived connection to their server',
    test: ['e2e/mcp/direct-tools.test.ts', 'excluded tools are listed and called as they are, and not from code, %s'],
  },
  {
    id: 'E8.2',
    clause: 'Configuration, reasons',
    says: 'Each run of code connects to the servers anew',
    differs:
      'CONFORMANCE.md, E8: connections belong to the host and outlive a run, which saves their start in every run',
  },
  {
    id: 'E8.3',
    clause: 'Architecture 2, preamble',
    says: 'A server that cannot be reached is told to the program',
    test: [PROFILE, KEPT],
  },
  {
    id: 'E8.4',
    clause: 'Architecture 2, preamble',
    says: 'A server that cannot be reached at the start makes the whole run panic',
    differs: 'CONFORMANCE.md, E8: the run starts, and a call of that server is an error value',
  },
  {
    id: 'E8.5',
    clause: 'Architecture 2, preamble',
    says: 'Connections are closed when the run ends',
    differs: 'CONFORMANCE.md, E8: connections belong to the host and outlive a run',
  },
  {
    id: 'E8.6',
    clause: 'Architecture 2, preamble',
    says: 'Servers are started with the command and arguments that were configured',
    test: [PROFILE, EXAMPLE],
  },
  {
    id: 'E8.7',
    clause: 'Architecture 2, preamble',
    says: 'The servers see a client that is called `mcp-client`',
    differs: 'CONFORMANCE.md, E8: servers see the one client that all programs share, the host under its own name',
  },

  // E9: the example
  {
    id: 'E9.1',
    clause: 'Example, get_weather',
    says: 'The printed schema of `get_weather` is taken as it is, though it requires a name without a property',
    test: [DOCUMENT, OWN_WORDS],
  },
  {
    id: 'E9.2',
    clause: 'Example, get_city',
    says: 'The printed empty input schema of `get_city` is taken as it is',
    test: [DOCUMENT, OWN_WORDS],
  },
  {
    id: 'E9.3',
    clause: 'Example, code',
    says: 'The printed program, corrected so that it compiles, runs',
    test: [PROFILE, EXAMPLE],
  },
  {
    id: 'E9.4',
    clause: 'Example, code',
    says: 'The printed program runs without a change',
    differs:
      'CONFORMANCE.md, E9: no Go compiles it (a comma is missing, a struct is used as a string); tests run it with both corrected',
  },
  {
    id: 'E9.5',
    clause: 'Example, tool result',
    says: 'Its output is the printed line',
    test: [PROFILE, EXAMPLE],
  },
];
