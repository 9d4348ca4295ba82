import type { CallToolResult } from '@modelcontextprotocol/client';
import { describe, expect, test, vi } from 'vitest';
import type { Envelope } from '../../../src/profiles/runner/envelope.js';
import { needs } from '../../support/needs.js';
import { everyday, openHome, openStdio } from '../../support/program.js';
import { LANGUAGES, outputDigestByPython, RunnerHome, type Sources } from '../../support/runner.js';

const SERVERS = { mcpServers: { 'every-day': everyday() }, profile: 'runner' };

describe('codemode mcp --profile runner', needs('bubblewrap', 'python3'), () => {
  test('lists a tool for each interpreter there is, and tells the agent how to use them [B24]', async () => {
    using home = openHome(SERVERS);
    await using session = await openStdio(home);
    const { tools } = await session.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['run_node', 'run_python']);
    expect(tools[1]).toMatchObject({
      inputSchema: { required: ['code'], properties: { timeout_ms: { default: 30_000 } } },
    });
    const told = session.client.getInstructions() ?? '';
    for (const words of [
      'catalog.searchTools({',
      'catalog.getToolDefinition({',
      'exactly one JSON line',
      '`run_python` (Python 3.',
      '8000 characters of what it prints',
      'The tools stay as they are while a program runs',
    ])
      expect(told).toContain(words);
    using cli = new RunnerHome();
    const { stdout } = await cli.run(['--config', cli.config, 'prompt', '--profile', 'runner']);
    expect(stdout).toContain('You solve tasks by writing code that runs in a sandbox.');
    expect(stdout).toContain('- every_day = every-day (14)');
    expect(stdout).toContain('## Tool run_python');
  });

  test('lists no tool for an interpreter that is not there [B24]', async () => {
    using home = openHome({ ...SERVERS, runner: { python: '/nowhere/python3' } });
    await using session = await openStdio(home);
    const { tools } = await session.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['run_node']);
    expect(session.client.getInstructions()).not.toContain('run_python');
  });

  test('answers with the result and the output; a wrong request is refused by name [B3, B7]', async () => {
    using home = openHome(SERVERS);
    await using session = await openStdio(home);
    const call = async (name: string, request: Record<string, unknown>) =>
      (await session.client.callTool({ name, arguments: request })) as CallToolResult;
    const printed = await call('run_python', { code: 'print("jo@example.com")\nraise KeyError("x")' });
    expect(printed.structuredContent).toMatchObject({ result: { ok: false, error: { type: 'KeyError' } } });
    expect(printed.isError).toBe(true);
    expect((printed.content[1] as { text: string }).text).toMatch(/^What the program printed:\n\[redacted:email\]\n$/);
    // Most clients show their model the structure alone.
    expect(printed.structuredContent).toMatchObject({
      notes: [
        expect.stringMatching(/^What the program printed:\n\[redacted:email\]\n$/),
        expect.stringMatching(/^Redacted: 1 email\. /),
      ],
    });
    // A traceback of one place says nothing that the error does not say; one of several places does.
    const deep = await call('run_python', { code: 'def f():\n    raise KeyError("y")\nf()\n' });
    expect(deep.structuredContent).toMatchObject({
      notes: [expect.stringMatching(/^What the program printed:\nTraceback[\s\S]*line 3[\s\S]*in f/)],
    });
    const place = await call('run_python', { code: 'result = {"rows": [1, {"when": {2}}]}' });
    expect(place.structuredContent).toMatchObject({
      result: { error: { type: 'NotSerializable', message: expect.stringContaining('at result["rows"][1]["when"]') } },
    });
    const wrong = await call('run_node', { code: '1', timeout: 5 });
    expect(wrong).toMatchObject({
      isError: true,
      structuredContent: {
        result: {
          error: { type: 'InvalidInput', message: 'timeout: is not known; use code, timeout_ms, memory_bytes' },
        },
      },
    });
    expect((await call('run_node', { source: '1' })).structuredContent).toMatchObject({
      result: { error: { message: 'code: is missing; source is not known: give the program as code' } },
    });
    const rounded = await call('run_python', { code: 'result = 2 ** 60 + 1' });
    expect(rounded.structuredContent).toMatchObject({ result: { ok: true, data: 2 ** 60 } });
    const { output_digest, duration_ms } = factsOf(rounded);
    const { result } = rounded.structuredContent as unknown as Envelope;
    const whole = { result: { ...result, metrics: { duration_ms } } };
    expect(outputDigestByPython(JSON.stringify(whole))).toBe(output_digest);
    expect((rounded.content[1] as { text: string }).text).toContain('1152921504606846977 was rounded');
    const late = await call('run_node', { code: 'for (;;);', timeout_ms: 200 });
    expect(late.structuredContent).toMatchObject({ result: { error: { type: 'Timeout', retryable: true } } });
  });

  test.each(LANGUAGES)(
    'a tool that its server has added is in the modules of the next %s program [B14]',
    async (language) => {
      using home = openHome(SERVERS);
      await using session = await openStdio(home);
      const run = async (sources: Sources) => {
        const request = { name: `run_${language}`, arguments: { code: sources[language] } };
        return ((await session.client.callTool(request)) as unknown as { structuredContent: Envelope })
          .structuredContent;
      };
      const grown = await run({
        node: `import { grow } from './servers/every_day/index.js'; globalThis.result = (await grow({ name: 'new.tool-x' })).content[0].text;`,
        python: `from servers.every_day import grow\nresult = (await grow({'name': 'new.tool-x'}))['content'][0]['text']`,
      });
      expect(grown.result).toMatchObject({ ok: true, data: 'added' });
      const uses = {
        node: `import { newToolX } from './servers/every_day/index.js'; globalThis.result = (await newToolX({})).content[0].text;`,
        python: `from servers.every_day import new_tool_x\nresult = (await new_tool_x({}))['content'][0]['text']`,
      };
      // The server says it in its own time.
      const used = async () => expect((await run(uses)).result).toMatchObject({ ok: true, data: 'grown' });
      await vi.waitFor(used, { timeout: 20_000, interval: 200 });
    },
  );
});

/** What the envelope says besides the result. */
function factsOf({ _meta }: Pick<CallToolResult, '_meta'>): Omit<Envelope, 'result'> {
  return _meta?.['io.github.codemode/envelope'] as Omit<Envelope, 'result'>;
}

test("a model reads a program's outcome; ids and digests are only where clients hide them", async () => {
  using home = openHome({ profile: 'runner', mcpServers: {} });
  await using session = await openStdio(home);
  const call = (code: string) => session.client.callTool({ name: 'run_node', arguments: { code } });
  const answer = (await call('globalThis.result = { n: 1 }')) as CallToolResult;
  expect(answer.content).toEqual([{ type: 'text', text: '{"result":{"ok":true,"data":{"n":1}}}' }]);
  expect(answer.structuredContent).toEqual({ result: { ok: true, data: { n: 1 } } });
  expect(factsOf(answer)).toEqual({
    run_id: expect.any(String),
    trace_id: expect.any(String),
    tool_name: 'node-runner',
    tool_version: expect.any(String),
    input_digest: expect.stringMatching(/^sha256:/),
    output_digest: expect.stringMatching(/^sha256:/),
    sandbox_image: expect.any(String),
    duration_ms: expect.any(Number),
    approval_state: 'NOT_REQUIRED',
  });
  const failed = (await call('throw new TypeError("no")')) as { content: { text: string }[] };
  expect(JSON.parse(failed.content[0]?.text ?? '')).toEqual({
    result: { ok: false, error: { type: 'TypeError', message: expect.stringContaining('no'), retryable: false } },
  });
});
