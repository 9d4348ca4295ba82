// codemode as the client that the public MCP conformance suite starts: node conformance-client.mjs URL
//
// The suite names the scenario in the environment and serves the other side of it at URL. Here URL is the only server
// in a configuration, and an agent's program does what the scenario asks for: through `codemode run`, or, where the
// server has a question, through `codemode mcp` with an agent's client that answers it.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));
const SERVER = 'suite';

const call = (tool, input) => `import * as server from '@codemode/servers/${SERVER}';
globalThis.__codemode_result__ = await server.${tool}(${JSON.stringify(input)});`;
const listTools = `import { listTools } from '@codemode/discovery';
globalThis.__codemode_result__ = await listTools('${SERVER}', { detail: 'full' });`;

/** Scenarios and their programs; any other only wants a client that connects and lists the tools. */
const programs = {
  tools_call: () => call('add_numbers', { a: 5, b: 3 }),
  'sse-retry': () => call('test_reconnection', {}),
  'http-standard-headers': () => call('test_headers', {}),
  'http-custom-headers': ({ toolCalls }) => `import * as server from '@codemode/servers/${SERVER}';
for (const { name, arguments: input } of ${JSON.stringify(toolCalls)}) await server[name](input);`,
  'http-invalid-tool-headers': () => `import { listTools } from '@codemode/discovery';
import * as server from '@codemode/servers/${SERVER}';
for (const { exportName } of await listTools('${SERVER}')) await server[exportName]({ region: 'eu' }).catch(() => {});`,
  'json-schema-2020-12-preservation': () => `import { getTool } from '@codemode/discovery';
import { json_schema_echo } from '@codemode/servers/${SERVER}';
const { inputSchema } = await getTool('${SERVER}', 'json_schema_2020_12_tool');
await json_schema_echo({ schema: inputSchema });`,
};

/** Scenarios in which a server asks the user, and what the user fills in. */
const questions = {
  'elicitation-sep1034-client-defaults': { program: call('test_client_elicitation_defaults', {}), filledIn: {} },
  'sep-2322-client-request-state': {
    program: `import * as server from '@codemode/servers/${SERVER}';
const tools = ['test_mrtr_echo_state', 'test_mrtr_unrelated', 'test_mrtr_no_state', 'test_mrtr_no_result_type'];
globalThis.__codemode_result__ = await Promise.all(tools.map((tool) => server[tool]({})));`,
    filledIn: { confirmed: true },
  },
};

const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const folder = mkdtempSync(join(tmpdir(), 'codemode-suite-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const configFile = join(folder, 'codemode.config.json');
const state = join(folder, 'state');
const isProtected = scenario.startsWith('auth/');
writeFileSync(
  configFile,
  JSON.stringify({ mcpServers: { [SERVER]: { url: process.argv.at(-1), ...authOf(context) } } }),
);
if (isProtected) await logIn();
await (scenario in questions ? askedThroughMcp(questions[scenario]) : throughRun());

/** What a user would have to write for a server that wants a login: nothing, or the client that was registered there. */
function authOf(context) {
  if (!isProtected) return {};
  const { client_id: clientId, client_secret: clientSecret } = JSON.parse(context);
  if (clientId !== undefined) return { auth: { type: 'oauth', clientId, clientSecret } };
  return { auth: { type: 'oauth', clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' } };
}

/** `codemode auth login`, with a browser that goes where it is sent: the suite's server asks nobody for consent. */
async function logIn() {
  const login = spawn(process.execPath, [PROGRAM, '--config', configFile, 'auth', 'login', SERVER], {
    env: { ...process.env, CODEMODE_HOME: state, CODEMODE_KEYRING: 'file', DISPLAY: '', WAYLAND_DISPLAY: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  let isVisited = false;
  login.stderr.on('data', (chunk) => {
    said += chunk;
    const address = /^ {2}(http\S+)$/m.exec(said)?.[1];
    if (address === undefined || isVisited) return;
    isVisited = true;
    void fetch(address).catch(() => {});
  });
  await new Promise((resolve) => login.once('close', resolve));
}

/** In this process: a second one would cost the time of a start. */
async function throughRun() {
  const programFile = join(folder, 'program.ts');
  writeFileSync(programFile, (programs[scenario] ?? (() => listTools))(JSON.parse(context)));
  process.env.CODEMODE_HOME = state;
  process.env.CODEMODE_KEYRING = 'file';
  process.argv = [process.execPath, PROGRAM, '--config', configFile, 'run', programFile];
  await import(PROGRAM);
}

async function askedThroughMcp({ program, filledIn }) {
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  // Defaults are for the client that shows the form: only there it is known which fields the user left as they were.
  const client = new Client(
    { name: 'agent', version: '0' },
    { capabilities: { elicitation: { form: { applyDefaults: true } } } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { ...filledIn } }));
  const env = { PATH: process.env.PATH ?? '', HOME: folder, CODEMODE_HOME: state, CODEMODE_KEYRING: 'file' };
  const args = [PROGRAM, '--config', configFile, 'mcp'];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'inherit' }));
  const result = await client.callTool({ name: 'codemode_run', arguments: { code: program } });
  process.stdout.write(JSON.stringify(result.structuredContent));
  await client.close();
}
