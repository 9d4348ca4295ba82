import type { CallToolResult } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CodemodeClient, startCodemode } from '../../support/codemode-client.js';
import { type GoProgramClient, startGo } from '../../support/go-program.js';
import { needs } from '../../support/needs.js';
import { AS_SHIPPED, nodeServer } from '../../support/program.js';
import { fixture } from '../../support/upstreams.js';

/*
 * What an agent is told besides the answer, in contracts whose answers have no field for it: a part that was taken for the
 * whole, what a failed program had done, what was redacted.
 */

const excel = nodeServer(fixture('paging-server.mjs'));
const PART = 'excel/read_range gave a next_range, and the program did not ask for the rest';
const PASS_IT = 'Pass it as `range` to get the rest, until there is none, or say that the result is a part.';
const TOKEN = `ghp_${'a'.repeat(36)}`;

const CRM = {
  tools: [
    {
      name: 'get-user',
      inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    },
    { name: 'locked', inputSchema: { type: 'object' } },
    { name: 'broken', inputSchema: { type: 'object' } },
    { name: 'picky', inputSchema: { type: 'object' } },
    { name: 'export', inputSchema: { type: 'object' } },
  ],
  replies: {
    broken: { rpcError: { code: -32603, message: 'the database is down' } },
    export: { content: [{ type: 'text', text: 'id,city\n1,Oslo\n' }] },
    picky: { rpcError: { code: -32602, message: 'it must be green' } },
    locked: { content: [{ type: 'text', text: '401 Unauthorized: token expired' }], isError: true },
  },
};

/** Without what the program printed. */
function notesOf({ structuredContent }: CallToolResult): string[] {
  const { notes = [] } = structuredContent as { notes?: string[] };
  return notes.filter((note) => !note.startsWith('What the program printed'));
}

interface Sources {
  /** Reads one part at line 2. */
  readonly part: string;
  readonly whole: string;
  readonly failing: string;
  readonly redacted: string;
  /** Makes one call, which fails, and does not look at it. */
  readonly unchecked: string;
  /** 3,000 rows as its result, or as lines. */
  readonly large: string;
}

const PYTHON: Sources = {
  part: 'from servers.excel import read_range\nresult = (await read_range({"file": "a"}))["structuredContent"]["rows"]',
  whole: `from servers.excel import read_range
first = (await read_range({"file": "a"}))["structuredContent"]
await read_range({"file": "a", "range": first["next_range"]})`,
  failing:
    'from servers.excel import list_rows, last_page\nawait list_rows({})\nawait list_rows({"offset": 1})\nraise KeyError("x")',
  redacted: `result = ["${TOKEN}", "jo@example.com"]`,
  unchecked: 'from servers.crm import locked\ntry:\n  await locked({})\nexcept Exception:\n  pass\nresult = 1',
  large: 'result = [{"id": n, "name": "customer"} for n in range(1500)]\nfor n in range(3000): print("line", n)',
};
const NODE: Sources = {
  part: 'import { readRange } from "./servers/excel/index.js";\nconst { structuredContent }: any = await readRange({ file: "a" });\nglobalThis.result = structuredContent.rows;',
  whole: `import { readRange } from "./servers/excel/index.js";
const first = await readRange({ file: "a" });
await readRange({ file: "a", range: first.structuredContent.next_range });`,
  failing:
    'import { listRows } from "./servers/excel/index.js";\nawait listRows({});\nawait listRows({ offset: 1 });\nthrow new TypeError("x");',
  redacted: `globalThis.result = ["${TOKEN}", "jo@example.com"];`,
  unchecked:
    'import { locked } from "./servers/crm/index.js";\nawait locked({}).catch(() => undefined);\nglobalThis.result = 1;',
  large: 'globalThis.result = Array.from({ length: 1500 }, (_, id) => ({ id, name: "customer" }));',
};
const SCRIPT: Sources = {
  part: 'var file = "a";\ncall_tool("excel", "read_range", { file: file }).result.rows',
  whole: `var first = call_tool("excel", "read_range", { file: "a" }).result;
call_tool("excel", "read_range", { file: "a", range: first.next_range }).ok`,
  failing:
    'call_tool("excel", "list_rows", {}); call_tool("excel", "list_rows", { offset: 1 }); throw new TypeError("x")',
  redacted: `"${TOKEN}"`,
  unchecked: 'call_tool("crm", "locked", {}); 1',
  large: 'Array.from({ length: 3000 }, function (_, id) { return { id: id, name: "customer" }; })',
};
const GO: Sources = {
  part: 'file := "a"\nout, err := readRange(ctx, ReadRangeInput{File: file})\nfmt.Println(len(out) > 0, err)',
  whole: `_, err := readRange(ctx, ReadRangeInput{File: "a"})
if err != nil {
	return err
}
_, err = readRange(ctx, ReadRangeInput{File: "a", Range: "A334:C420"})
fmt.Println("read")
return err`,
  failing:
    'for i := 0; i < 2; i++ {\n\tif _, err := callTool(ctx, "excel", "list_rows", map[string]any{"offset": i}); err != nil {\n\t\treturn err\n\t}\n}\nreturn fmt.Errorf("x")',
  redacted: `fmt.Println("${TOKEN}")`,
  unchecked: 'out, _ := callTool(ctx, "everyday", "fail", map[string]any{})\nfmt.Println(len(out))',
  large: 'for id := 0; id < 3000; id++ {\n\tfmt.Println("customer", id)\n}',
};

function tests(
  call: (code: string) => Promise<CallToolResult>,
  sources: Sources,
  {
    redaction,
    place = 'line 2',
    types = [],
  }: { readonly redaction: RegExp; readonly place?: string; readonly types?: readonly RegExp[] },
): void {
  test('names the call, the field and the place of a part that was taken for the whole', async () => {
    expect(notesOf(await call(sources.part))).toEqual([`warning: ${PART} (${place}). ${PASS_IT}`]);
  });

  test('says nothing of a part that the program went on from', async () => {
    expect(notesOf(await call(sources.whole))).toEqual([]);
  });

  test('says what had succeeded before a program failed', async () => {
    expect(notesOf(await call(sources.failing))).toEqual([
      expect.stringMatching(/^Before the program failed, 2 calls succeeded: excel\/list_rows 2 \(\d+ ms\)\.$/),
      ...types.map((each) => expect.stringMatching(each)),
    ]);
  });

  test('says that calls failed which the program did not look at', async () => {
    const notes = notesOf(await call(sources.unchecked));
    expect(notes).toEqual([
      expect.stringMatching(
        /^warning: 1 of 1 calls failed, and the program continued: (?:crm\/locked|everyday\/fail) \(1\); first: /,
      ),
    ]);
  });

  test('gives of a result of 3,000 rows, or of as many lines, what an answer takes, and says so', async () => {
    const answer = await call(sources.large);
    const texts = answer.content.map((block) => (block as { text: string }).text).join('\n');
    expect(texts.length).toBeLessThan(17_500);
    expect(texts).toMatch(/is only its beginning|lines \d+ to \d+ of 3000 are left out/);
    expect(JSON.stringify(answer.structuredContent).length).toBeLessThan(17_500);
  });

  test('says what was redacted, and which key turns it off', async () => {
    expect(notesOf(await call(sources.redacted))).toEqual([expect.stringMatching(redaction)]);
  });
}

const OF_PATTERNS = /^Redacted: 1 github-token\. .*redaction\.patterns: false\.$/;
const OF_PEOPLE = /^Redacted: 1 github-token, 1 email\. .*runner\.redactPersonalData: false\.$/;

describe('profile runner', needs('bubblewrap', 'python3'), () => {
  let runner: CodemodeClient;
  beforeAll(async () => {
    runner = await startCodemode({
      servers: { excel },
      scripts: { crm: CRM },
      config: AS_SHIPPED,
      commandLine: ['--profile', 'runner'],
    });
  });
  afterAll(() => runner?.[Symbol.asyncDispose]());
  const call = (name: string) => async (code: string) =>
    (await runner.client.callTool({ name, arguments: { code } })) as CallToolResult;

  describe('in Python', () =>
    tests(call('run_python'), PYTHON, { redaction: OF_PEOPLE, types: [/^types: excel: list_rows\(/] }));
  describe('in Node', () =>
    tests(call('run_node'), NODE, { redaction: OF_PEOPLE, types: [/^types: excel: listRows\(/] }));

  test('a forgotten await in Python is reported with its line, as in Node', async () => {
    const code = 'from servers.crm import locked\nlocked({})\nresult = 1';
    const { structuredContent } = await call('run_python')(code);
    expect((structuredContent as { notes: string[] }).notes).toEqual([
      expect.stringMatching(/program\.py:2: RuntimeWarning: coroutine 'locked' was never awaited/),
    ]);
  });

  test.each([
    ['result = {"u": get_user({"name": "x"})}', ' at result["u"]'],
    ['mine = get_user({"name": "x"})\nresult = mine', ''],
  ])('a result in Python that was not awaited is reported with its function and line: %s', async (code, at) => {
    const { structuredContent } = await call('run_python')(`from servers.crm import get_user\n${code}`);
    const { message } = (structuredContent as { result: { error: { message: string } } }).result.error;
    expect(message).toContain(`JSON serializable${at}; not awaited: get_user(...) at line 2. Write \`await\``);
  });

  test('a call in Node whose answer nothing used is reported with its line', async () => {
    const code = 'import { getUser } from "./servers/crm/index.js";\ngetUser({ name: "x" });\nglobalThis.result = 1;';
    expect((await call('run_node')(code)).structuredContent).toMatchObject({
      notes: [expect.stringContaining('not awaited: crm/get-user at line 2. Write `await` in front of each call.')],
    });
  });

  test.each([
    ['run_node', 'console.log("x".repeat(100_000)); globalThis.result = 1;'],
    ['run_python', 'print("x" * 100_000)\nresult = 1'],
  ])('%s: a huge value that is printed is cut, and the line says to print less', async (name, code) => {
    const { notes = [] } = (await call(name)(code)).structuredContent as { notes?: string[] };
    expect(notes.join('\n')).toMatch(/x… <TRUNCATED: \d+ more characters; print less>\n$/);
    expect(notes.join('\n').length).toBeLessThan(10_000);
  });

  test('what lost a race is not waited for, in Node and in Python', async () => {
    const node = await call('run_node')(
      `import { locked } from './servers/crm/index.js';
       const late = new Promise((resolve) => setTimeout(resolve, 60_000));
       globalThis.result = await Promise.race([locked({}).catch(() => 'first'), late]);`,
    );
    const python = await call('run_python')(
      `import asyncio
done, _ = await asyncio.wait([asyncio.create_task(asyncio.sleep(ms)) for ms in (0, 60)], return_when=asyncio.FIRST_COMPLETED)
result = len(done)`,
    );
    expect(
      [node, python].map(({ structuredContent }) => (structuredContent as { result: { data: unknown } }).result.data),
    ).toEqual(['first', 1]);
  });

  test('what a comment calls a race is waited for, in Node and in Python', async () => {
    const node = await call('run_node')(
      `// Promise.race
       globalThis.result = 'early'; setTimeout(() => { globalThis.result = 'late'; }, 10);`,
    );
    const python = await call('run_python')(
      `import asyncio  # FIRST_COMPLETED
async def work():
    global result
    await asyncio.sleep(0.01)
    result = 'late'
result = 'early'
task = asyncio.create_task(work())
await asyncio.sleep(0)`,
    );
    expect(
      [node, python].map(({ structuredContent }) => (structuredContent as { result: { data: unknown } }).result.data),
    ).toEqual(['late', 'late']);
  });

  test.each([
    [
      'run_node',
      'import { broken } from "./servers/crm/index.js";\nglobalThis.result = { done: [1, 2] };\nawait broken({});',
    ],
    ['run_python', 'from servers.crm import broken\nresult = {"done": [1, 2]}\nawait broken({})'],
  ])('%s: a failed program keeps what it had set, and is not told to change its input', async (name, code) => {
    const answer = await call(name)(code);
    expect(notesOf(answer)).toEqual(['When it failed, `result` was {"done":[1,2]}']);
    const { message } = (answer.structuredContent as { result: { error: { message: string } } }).result.error;
    expect(message).toMatch(/^crm answered with an error: the database is down \(line 3, column \d+\)$/);
  });

  test('of a large value that a failed program had set the beginning is shown, in whole items', async () => {
    const [note = ''] = notesOf(await call('run_python')('result = list(range(1000))\nraise KeyError("x")'));
    expect(note).toMatch(
      /^When it failed, `result` began with \[0,1,.*\d\] \(of 3891 characters, 1000 rows of number\)$/,
    );
    expect(note.length).toBeLessThan(1_150);
  });

  test('a field of a promise that was not awaited is reported with the line of the call', async () => {
    const code =
      'import { getUser } from "./servers/crm/index.js";\nconst user = getUser({ name: "x" });\nuser.card.length;';
    expect((await call('run_node')(code)).structuredContent).toMatchObject({
      notes: expect.arrayContaining([expect.stringContaining('not awaited: crm/get-user at line 2')]),
    });
  });

  test('a catalog is searched with words alone too, and tells what tools were seen to return', async () => {
    const code = {
      run_node:
        'import { callTool } from "./client/mcp_client.js";\nawait callTool("crm", "get-user", { name: "x" });\nglobalThis.result = (await catalog.searchTools("get user"))[0].signature;',
      run_python: 'result = (await catalog.search_tools("get user"))[0]["signature"]',
    };
    for (const [name, signature] of [
      ['run_node', 'getUser'],
      ['run_python', 'get_user'],
    ] as const)
      expect((await call(name)(code[name])).structuredContent).toMatchObject({
        result: {
          data: `${signature}({ name: string }): { tool: string, received: { name: string } } /* observed */`,
        },
      });
  });

  test('an error with one position has no note that repeats it', async () => {
    for (const [name, code] of [
      ['run_node', 'import { getUsr } from "./servers/crm/index.js";'],
      ['run_python', 'from servers.crm import get_usr'],
      ['run_node', 'return 1'],
      ['run_python', 'from servers import crm\nawait crm.get_usr({"name": "x"})'],
    ] as const)
      expect((await call(name)(code)).structuredContent).not.toHaveProperty('notes');
  });

  test('a call without a known line is named by its number', async () => {
    const code = `import asyncio\nfrom servers.excel import read_range\nresult = len(await asyncio.gather(read_range({"file": "a"})))`;
    expect(notesOf(await call('run_python')(code))).toEqual([`warning: ${PART} (call 1). ${PASS_IT}`]);
  });

  test.each([
    ['run_node', 'import { locked } from "./servers/crm/index.js";\nawait locked({});'],
    ['run_python', 'from servers.crm import locked\nawait locked({})'],
  ])('a tool that says unauthorised says what the user has to do: %s [B3]', async (name, code) => {
    const { structuredContent } = await call(name)(code);
    const { message } = (structuredContent as { result: { error: { message: string } } }).result.error;
    expect(message).toMatch(/^401 Unauthorized: token expired \(line 2, .*\)\. Ask the user to /);
  });

  test.each([
    ['run_node', 'import { getUsr } from "./servers/crm/index.js";', 'Did you mean getUser?'],
    ['run_python', 'from servers.crm import get_usr', 'Write get_user: '],
    ['run_node', 'import * as crm from "./servers/crm/index.js";\nawait crm.getUsr({});', 'Did you mean getUser?'],
    ['run_python', 'import servers.crm as crm\nawait crm.get_usr({})', 'Write get_user: '],
    ['run_node', 'import { zzzzzz } from "./servers/crm/index.js";', 'Functions of crm: '],
    ['run_python', 'from servers.crm import zzzzzz', 'Functions of crm: '],
    ['run_python', 'import servers.crm as crm\nawait crm.zzzzzz({})', 'Functions of crm: '],
    ['run_node', 'import * as crm from "./servers/crmm/index.js";', 'Did you mean crm?'],
    ['run_python', 'import servers.crmm', 'Did you mean crm?'],
    ['run_node', 'await fetch("https://example.com")', 'There is no network here.'],
    ['run_python', 'import urllib.request\nurllib.request.urlopen("https://example.com")', 'There is no network here.'],
    ['run_node', 'import axios from "axios";', 'Only the standard library'],
    ['run_python', 'import requests', 'Only the standard library'],
    ['run_node', 'require("fs")', 'you can use import instead'],
    ['run_python', 'import os\nos.environ["API_KEY"]', 'There is no environment here.'],
    [
      'run_node',
      'import { readFileSync } from "node:fs";\nreadFileSync("/etc/hostname");',
      'There are no files here but',
    ],
    ['run_python', 'open("/etc/hostname")', 'There are no files here but'],
    [
      'run_node',
      'import * as crm from "@codemode/servers/crm";',
      'import * as server from "./servers/<server>/index.js"',
    ],
    ['run_python', 'import crm', 'from servers.crm import <function>'],
    ['run_python', 'from servers.crm import get_user\nget_user({"name": "x"})["name"]', 'Write `await`'],
    ['run_python', 'from servers.crm import get_user\n(await get_user({"name": "x"}))["name"]', 'data_of(answer)'],
    [
      'run_node',
      'import { getUser } from "./servers/crm/index.js";\n(await getUser({ name: "x" })).user.name;',
      'dataOf(answer)',
    ],
    [
      'run_node',
      'import { export_ } from "./servers/crm/index.js";\n(await export_({})).content[0].text.map(String);',
      'dataOf(answer)',
    ],
    [
      'run_python',
      'from servers.crm import export\n(await export({}))["content"][0]["text"]["name"]',
      'data_of(answer)',
    ],
    ['run_node', 'process.env.API_KEY.length', 'There is no environment here.'],
    ['run_node', 'await crm.getUser({ name: "x" });', 'Write: import * as crm from "./servers/crm/index.js";'],
    ['run_python', 'await crm.get_user({"name": "x"})', 'Write: from servers import crm'],
    ['run_node', 'await getUser({ name: "x" });', 'Write: import { getUser } from "./servers/crm/index.js";'],
    ['run_python', 'await get_user({"name": "x"})', 'Write: from servers.crm import get_user'],
    ['run_node', 'dataOf(1);', 'Write: import { dataOf } from "./client/mcp_client.js";'],
    ['run_python', 'data_of(1)', 'Write: from client.mcp_client import data_of'],
    ['run_python', 'await search_tools("users")', 'await catalog.search_tools(query="words") finds a tool'],
    [
      'run_node',
      'import { getUser } from "./servers/crm/index.js";\nglobalThis.result = getUser({ name: "x" });',
      'Write `await`',
    ],
    ['run_python', 'from servers.crm import get_user\nresult = get_user({"name": "x"})', 'Write `await`'],
    ['run_node', 'return 5', 'Assign the result to globalThis.result instead of returning it.'],
    ['run_python', 'return 5', 'Assign the value to `result` instead of returning it.'],
    [
      'run_node',
      'import { getUser } from "./servers/crm/index.js";\nglobalThis.result = [getUser({ name: "x" })];',
      'Write `await`',
    ],
    ['run_python', 'from servers.crm import get_user\nresult = [get_user({"name": "x"})]', 'Write `await`'],
  ])('%s says what to write instead of %j [B3]', async (name, code, hint) => {
    const { structuredContent } = await call(name)(code);
    const { message } = (structuredContent as { result: { error: { message: string } } }).result.error;
    expect(message).toContain(hint);
  });

  test.each([
    ['run_node', 'import { getUser } from "./servers/crm/index.js";\nawait getUser({ nam: "x" });', 'getUser'],
    // A literal is checked before the program starts.
    ['run_python', 'from servers.crm import get_user\ninput = {"nam": "x"}\nawait get_user(input)', 'get_user'],
  ])('errors of %s name the tool as programs call it, and as the protocol does [B5]', async (name, code, called) => {
    const { structuredContent } = await call(name)(code);
    const { message } = (structuredContent as { result: { error: { message: string } } }).result.error;
    expect(message).toContain(`Invalid input for ${called} (tool "get-user")`);
    expect(message).toContain(`Example: ${called}({"name":`);
    expect(message).toContain('Rename "nam" to "name".');
  });
});

describe('profile code_execution', needs('bubblewrap'), () => {
  let scripts: CodemodeClient;
  beforeAll(async () => {
    scripts = await startCodemode({
      servers: { excel },
      scripts: { crm: CRM },
      config: AS_SHIPPED,
      commandLine: ['--profile', 'code_execution'],
    });
  });
  afterAll(() => scripts?.[Symbol.asyncDispose]());
  const run = async (code: string) =>
    (await scripts.client.callTool({ name: 'code_execution', arguments: { code } })) as CallToolResult;
  tests(
    run,
    SCRIPT,
    // Its calls block a script, which cannot be asked for its line meanwhile.
    { redaction: OF_PATTERNS, place: 'call 1', types: [/^types: excel: list_rows\(/] },
  );

  test.each([
    ['cmr', 'get-user', 'cmr/get-user (1); first: there is no server "cmr". There are: "crm", "excel".'],
    ['crm', 'get-usr', 'crm/get-usr (1); first: crm has no tool "get-usr". Did you mean "get-user"?'],
  ])('a call of %s/%s is named where the script fails on its missing result', async (server, tool, why) => {
    const code = `call_tool("${server}", "${tool}", { name: "x" }).result`;
    expect(notesOf(await run(`${code}.id`))).toEqual([`warning: 1 of 1 calls failed: ${why}`]);
    expect(notesOf(await run(`${code}; 1`))).toEqual([
      `warning: 1 of 1 calls failed, and the program continued: ${why}`,
    ]);
    expect(notesOf(await run(`throw new Error(call_tool("${server}", "${tool}", {}).error.message)`))).toEqual([]);
  });

  test.each([
    ['require("fs")', 'There are no modules here. Call a tool: call_tool(server, tool, args).'],
    ['fetch("https://example.com")', 'There is no network here. Call a tool: call_tool(server, tool, args).'],
    [
      'process.env.HOME',
      'There is no process here: no environment, no files. Call a tool: call_tool(server, tool, args).',
    ],
    ['setTimeout(function () {}, 1)', 'There are no timers here: calls block until they are answered.'],
    ['crm.get_user({ name: "x" })', `Write: call_tool("crm", 'tool', { ... })`],
    ['get_user({ name: "x" })', 'Write: call_tool("crm", "get-user", { ... })'],
    [
      'var one = (async function () { return 1; })(); ({ list: [one] })',
      expect.stringMatching(
        /^the result cannot be turned into JSON: a promise.* at value\["list"\]\[0\] is not JSON\. Let/,
      ),
    ],
  ])('says what to write instead of %s [D5]', async (code, note) => {
    expect(notesOf(await run(code))).toEqual([note]);
  });

  test.each([
    ['NaN', 'null'],
    ['({ price: NaN, list: [1, undefined, -Infinity] })', '{"price":null,"list":[1,null,null]}'],
  ])('a value in %s that JSON cannot express is reported with its path [D2]', async (code, value) => {
    const answer = await run(code);
    expect(JSON.stringify((answer.structuredContent as { value: unknown }).value)).toBe(value);
    const places = code === 'NaN' ? 'NaN' : 'NaN at /price, an undefined item at /list/1, -Infinity at /list/2';
    expect(notesOf(answer)).toEqual([
      `warning: \`value\` had what JSON cannot hold: ${places}; sent as null or {}, or left out. Return a string, a number or null there.`,
    ]);
    expect(notesOf(await run('({ a: 1, b: undefined })'))).toEqual([
      'info: `value` had what JSON cannot hold: undefined at /b; sent as null or {}, or left out',
    ]);
  });

  test.each([
    ['import fs from "fs";', 'tools are called through global functions'],
    ['var user = await call_tool("crm", "get-user", { name: "x" });', 'Leave `await` out'],
  ])('says what to write instead of %j [D5]', async (code, hint) => {
    const { error } = (await run(code)).structuredContent as { error: { message: string } };
    expect(error.message).toContain(hint);
  });

  test('a call is not chained with then, and the callee is named although a function follows it [D5]', async () => {
    const answer = await run('call_tool("excel", "media", {}).then(function (user) { return user; })');
    expect(answer.structuredContent).toMatchObject({ error: { message: 'TypeError: then is not a function' } });
    expect(notesOf(answer)[0]).toBe('Calls block here: use what call_tool returned, without `then`.');
  });

  test('what a script logs, however much, costs its answer nothing [D5]', async () => {
    const answer = await run('console.log("x".repeat(100000)); 1');
    expect(answer.content).toEqual([{ type: 'text', text: '{"ok":true,"value":1}' }]);
    expect(notesOf(answer)).toEqual([]);
  });

  test('a script that uses a failed call as data is told that it failed and how others answered', async () => {
    const code =
      'var user = call_tool("crm", "get-user", { name: "x" }).result; call_tool("crm", "locked", {}).result.name';
    expect(notesOf(await run(code))).toEqual([
      expect.stringMatching(/^Before the program failed, 1 call succeeded: crm\/get-user/),
      expect.stringMatching(/^warning: 1 of 2 calls failed: crm\/locked \(1\); first: 401 Unauthorized/),
      'types: crm: get-user({ name: string }): { tool: string, received: { name: string } } /* observed */',
    ]);
  });

  test('a tool that says unauthorised says what the user has to do, and `_meta` is left out [D2]', async () => {
    const { structuredContent } = await run(
      'var a = call_tool("crm", "locked", {}).error; var b = call_tool("excel", "media", {}).result; [a.code, a.message, Object.keys(b)]',
    );
    expect((structuredContent as { value: string[] }).value).toEqual([
      'AUTHENTICATION_REQUIRED',
      expect.stringMatching(/^401 Unauthorized: token expired\. Ask the user to /),
      ['content', 'more'],
    ]);
  });

  test('an error of a server blames the input only where the server does [D2]', async () => {
    const { structuredContent } = await run(
      'var of = function (tool) { return call_tool("crm", tool, {}).error.message; }; [of("broken"), of("picky")]',
    );
    expect((structuredContent as { value: string[] }).value).toEqual([
      'crm answered with an error: the database is down',
      'crm refused the call: it must be green. Change the arguments.',
    ]);
  });

  test('a mistyped tool is reported with the right name, a wrong argument with an example [D3]', async () => {
    const { structuredContent } = await run(
      'var a = call_tool("excel", "read_rang", {}); var b = call_tool("crm", "get-user", { nam: 1 }); [a.error.message, b.error.message]',
    );
    expect((structuredContent as { value: string[] }).value).toEqual([
      'excel has no tool "read_rang". Did you mean "read_range" or "read_range_text"?',
      expect.stringMatching(
        /^Invalid input for get-user at .* Example arguments: \{"name":".*"\}\. Rename "nam" to "name"\.$/,
      ),
    ]);
  });
});

describe('profile go', needs('go', 'bubblewrap'), () => {
  let go: GoProgramClient;
  beforeAll(async () => {
    go = await startGo({ servers: { excel }, config: AS_SHIPPED });
    await Promise.all([go.ready(), go.connected()]);
  }, 600_000);
  afterAll(() => go?.[Symbol.asyncDispose]());
  tests((code) => go.call({ code }), GO, { redaction: OF_PATTERNS });

  test('code that prints nothing is told to print', async () => {
    const answer = await go.call({ code: 'n := 1\n_ = n' });
    expect(answer.structuredContent).toMatchObject({ output: '' });
    expect(notesOf(answer)).toEqual([
      'The code ran to its end and printed nothing. Print what you want to know with fmt.Println.',
    ]);
  });

  test.each([
    ['return 5', 'The answer is what the code prints: fmt.Println(value).'],
    ['_, err := os.ReadFile("/etc/hostname")\nreturn err', 'There are no files here. searchTools(ctx, "words")'],
    ['_, err := http.Get("http://example.com")\nreturn err', 'There is no network here. searchTools(ctx, "words")'],
  ])('says what to write instead of %j', async (code, hint) => {
    expect((await go.call({ code })).structuredContent).toMatchObject({ output: expect.stringContaining(hint) });
  });

  test('a search has signatures, with what a tool was seen to return', async () => {
    const code = `_, err := getForecast(ctx)
if err != nil {
	return err
}
found, err := searchTools(ctx, "read range of a file")
fmt.Println(found[0].Signature, err)
types, err := describeTools(ctx, "readRange")
fmt.Println(types, err)`;
    const { output } = (await go.call({ code })).structuredContent as { output: string };
    expect(output).toMatch(
      /^readRange\(ctx, ReadRangeInput\{File\? any; Range\? any\}\) \(string, error\) \/\/ observed: JSON text of: \{ rows: /,
    );
    expect(output).toMatch(/^\/\/ readRange: observed: JSON text of: \{ rows: /m);
  });

  test('code that takes the text of a tool for a struct is told how to get its data', async () => {
    const code = 'out, err := readRange(ctx, ReadRangeInput{File: "a"})\nfmt.Println(out.Rows, err)';
    expect((await go.call({ code })).structuredContent).toMatchObject({
      output: expect.stringContaining("out is the tool's text; its data: data, err := convert[map[string]any](out)"),
    });
  });
});
