import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCodemode } from '../../support/codemode-client.js';
import { startCollector } from '../../support/collector.js';
import { needs } from '../../support/needs.js';
import { LANGUAGES, RunnerHome } from '../../support/runner.js';
import { slow } from '../../support/slow-server.js';
import { fixture } from '../../support/upstreams.js';

/** Statements of the contract that are short and easily lost: one program each. */

const BOTH = {
  node: `import * as everyday from './servers/every_day/index.js';
    globalThis.result = await everyday.add({ a: 1, b: 2 });`,
  python: `import servers.every_day as everyday\nresult = await everyday.add({'a': 1, 'b': 2})`,
};

describe.each(LANGUAGES)('a program of %s', needs('bubblewrap', 'python3'), (language) => {
  let home: RunnerHome;
  beforeAll(() => {
    home = new RunnerHome({ runner: { stdout: '4KB', stderr: '1KB' } });
  });
  afterAll(() => home[Symbol.dispose]());

  test('gets text and structured content of an answer as one compact JSON line, on record [B2, B11, B18]', async () => {
    const { data, line, envelope } = await home.runner([language], BOTH[language]);
    expect(data).toMatchObject({ content: [{ type: 'text', text: '3' }], structuredContent: { sum: 3 } });
    expect(line).toBe(`${JSON.stringify(envelope)}\n`);
    const words = ['audit', '--run', envelope.run_id, '--json'];
    const { records } = await home.json<{ records: { toolName: string; verdict: string }[] }>(words);
    expect(records.filter(({ verdict }) => verdict !== 'sent')).toMatchObject([{ toolName: 'add', verdict: 'ok' }]);
  });

  test('keeps to the sizes of the configuration [B7]', async () => {
    const programs = {
      node: `console.error('x'.repeat(5_000)); globalThis.result = 'y'.repeat(8_000);`,
      python: `import sys\nprint('x' * 5_000, file=sys.stderr)\nresult = 'y' * 8_000`,
    };
    const { line, stderr } = await home.runner([language], programs[language]);
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(4_096);
    expect(stderr.length).toBeLessThan(1_500);
  });

  test('finds a tool, reads its definition, and calls it by the names it got [B13]', async () => {
    const find = {
      node: `const [found] = await catalog.searchTools({ query: 'adds two numbers', detail: 'name' });
        globalThis.result = await catalog.getToolDefinition({ serverId: found.serverId, name: found.toolName });`,
      python: `found = (await catalog.search_tools(query='adds two numbers', detail='name'))[0]
result = await catalog.get_tool_definition(server_id=found['serverId'], name=found['toolName'])`,
    };
    const { data } = await home.runner([language], find[language]);
    const {
      module,
      function: name,
      inputSchema,
    } = data as Record<string, string> & { inputSchema: { required: string[] } };
    expect(inputSchema.required).toEqual(['a', 'b']);
    const call = {
      node: `import { ${name} } from './servers/${module}/index.js'; globalThis.result = await ${name}({ a: 1, b: 2 });`,
      python: `from servers.${module} import ${name}\nresult = await ${name}({'a': 1, 'b': 2})`,
    };
    expect((await home.runner([language], call[language])).data).toMatchObject({ structuredContent: { sum: 3 } });
  });

  test('leaves its digest and what it ran on in its recording [B21]', async () => {
    const { envelope } = await home.runner([language], BOTH[language]);
    const file = home.path(`${language}.json`);
    expect((await home.run(['replay', envelope.run_id, '--export', file])).status).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      codeDigest: envelope.input_digest?.replace('sha256:', ''),
      environment: {
        build: expect.any(String),
        node: expect.stringMatching(/\d+\.\d+/),
        isolation: 'strict',
        interpreter: expect.stringMatching(/^\d+\.\d+/),
      },
    });
  });

  test('names the task that a server made of its call in its trace [B23]', async () => {
    await using collector = await startCollector();
    using jobs = new RunnerHome({
      mcpServers: { jobs: { command: process.execPath, args: [fixture('awkward-server.mjs'), 'tasks'] } },
      telemetry: { traces: { endpoint: collector.url } },
    });
    const programs = {
      node: `import { job } from './servers/jobs/index.js'; globalThis.result = await job({});`,
      python: 'from servers.jobs import job\nresult = await job({})',
    };
    const { envelope, error } = await jobs.runner([language], programs[language]);
    expect(error).toBeUndefined();
    const spans = await collector.trace(({ traceId }) => traceId === envelope.trace_id, 'tools/call job');
    expect(spans.find(({ name }) => name === 'tools/call job')?.attributes).toMatchObject({ 'mcp.task.id': 'task-1' });
  });
});

test('the prompt has an index of tools, and none of their schemas [B13]', async () => {
  using home = new RunnerHome();
  const { stdout } = await home.run(['--config', home.config, 'prompt', '--profile', 'runner']);
  expect(stdout).toMatch(/every.day/);
  expect(stdout).not.toMatch(/"properties"|inputSchema|"type": ?"object"/);
});

test('tool changes are listened to only where the server has announced them [B14]', async () => {
  await using codemode = await startCodemode({ servers: { loud: slow(), quiet: slow('--unannounced') } });
  const names = await codemode.value(`import * as loud from '@codemode/servers/loud';
    import * as quiet from '@codemode/servers/quiet';
    await loud.grow({ name: 'more' });
    await quiet.grow({ name: 'more' });`);
  expect(names).toBeNull();
  const listed = await codemode.value(`import { listTools } from '@codemode/discovery';
    const names = async (id) => (await listTools(id, { detail: 'name' })).map(({ toolName }) => toolName).sort();
    globalThis.__codemode_result__ = [await names('loud'), await names('quiet')];`);
  expect(listed).toEqual([
    ['grow', 'hello', 'more'],
    ['grow', 'hello'],
  ]);
});
