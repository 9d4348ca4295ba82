import { execFileSync, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PACKAGE_CLIENT_DECLARATIONS } from '../../../src/catalog/declarations/typescript/typescript-frames.js';
import { PROGRAM } from '../../support/cli.js';
import { needs } from '../../support/needs.js';
import { outputDigestByPython, type RunnerEnded, RunnerHome } from '../../support/runner.js';
import { runnerExamples } from '../../support/runner-examples.js';
import { typeCheckPrograms } from '../../support/type-check.js';
import { fixture } from '../../support/upstreams.js';

/** The examples of the contract for runners, against the built program. */

const EXAMPLES = runnerExamples();
const used = new Set<string>();

/** The code of this name in this language. */
function example(language: string, name: string): string {
  const found = EXAMPLES.find((each) => each.language === language && each.name === name);
  expect(found, `an example ${name} in ${language}`).toBeDefined();
  used.add(`${language} ${name}`);
  return found?.code ?? '';
}

const INPUT = { type: 'object', properties: { documentId: { type: 'string' } } };
const TOOLS = {
  'google-drive': {
    tool: { name: 'get_document', title: 'Get', icons: [{ src: 'data:,x' }], annotations: { readOnlyHint: true } },
    reply: { content: [{ type: 'text', text: 'T' }], structuredContent: { content: 'a long text' } },
  },
  weather: { tool: { name: 'get_weather' } },
  sheets: { tool: { name: 'get.all-rows' }, reply: { content: [], structuredContent: { rows: [1, 2, 3] } } },
};

describe('the examples of the contract', needs('bubblewrap', 'python3'), () => {
  let home: RunnerHome;
  beforeAll(() => {
    home = new RunnerHome();
    const servers = Object.entries(TOOLS).map(([id, { tool, ...more }]) => {
      const described = { ...tool, inputSchema: INPUT, unheardOf: [1] };
      const replies = 'reply' in more ? { [tool.name]: more.reply } : {};
      const script = home.write(`${id}.json`, { name: id, tools: [described], replies });
      return [id, { command: process.execPath, args: [fixture('scripted-server.mjs'), script] }];
    });
    home.write('codemode.config.json', { mcpServers: Object.fromEntries(servers) });
  });
  afterAll(() => home[Symbol.dispose]());

  const run = async (language: 'node' | 'python', source: string): Promise<RunnerEnded> => {
    const ended = await home.runner([language], source);
    expect(ended.error, ended.stderr).toBeUndefined();
    return ended;
  };

  test('a program in TypeScript and one in JavaScript call a server by its module [B4, B5, B6]', async () => {
    const summarize = 'function summarize(value) { return `summary of ${JSON.stringify(value)}`; }\n';
    const typed = await run('node', example('typescript', 'program') + summarize);
    expect(typed.data).toEqual({ summary: 'summary of {"content":"a long text"}' });
    const plain = await run('node', example('js', 'program-with-log') + summarize);
    expect(plain.data).toEqual({ summary: 'summary of "a long text"' });
    // On a slow machine codemode says what it waits for.
    expect(plain.stderr).toMatch(/^(?:codemode: .* so far\n)*Fetching document.+\n$/);
    const failing = await home.runner(['node'], example('js', 'program-with-log'));
    expect(failing).toMatchObject({ status: 1, error: { type: 'ExitError' } });
    expect(failing.stderr).toContain('ReferenceError: summarize is not defined');
  });

  test('a program in Python runs its own loop, and sets its result from within [B4, B5, B6]', async () => {
    const helpers = `def calculate_metrics(rows): return {'summary': rows['structuredContent']}\ndef detect_anomalies(rows): return [1, 2]\n`;
    const { data, stderr } = await run('python', helpers + example('python', 'own-loop'));
    expect(data).toEqual({ summary: { rows: [1, 2, 3] }, anomaly_count: 2 });
    expect(stderr).toMatch(/^Processing \d rows.+\n$/);
  });

  test('wrappers in Python call by server and protocol name, generated ones too [B4, B10]', async () => {
    const { data } = await run(
      'python',
      `${example('python', 'wrapper-document')}${example('python', 'wrapper-weather')}
import asyncio
from servers.google_drive.get_document import GetDocumentInput as Generated, get_document as generated
import servers.google_drive
async def main():
    return await servers.google_drive.get_document(documentId='abc123')
# A loop of its own beside the one of the top level.
answers = [await get_document({'documentId': 'abc123'}), await generated(Generated(documentId='abc123')), asyncio.run(main())]
result = [[each['structuredContent'] for each in answers], (await get_weather({'location': 'Bonn'}))['structuredContent']]`,
    );
    const document = { content: 'a long text' };
    expect(data).toEqual([[document, document, document], { tool: 'get_weather', received: { location: 'Bonn' } }]);
  });

  test('the wrapper in JavaScript works once its parameter has a name that a module may have [B4, B10]', async () => {
    const stub = example('js', 'wrapper-weather');
    const { data } = await run(
      'node',
      `import { mkdirSync, writeFileSync } from 'node:fs';
      const stub = ${JSON.stringify(stub)};
      mkdirSync('own/weather', { recursive: true });
      writeFileSync('own/weather/index.js', stub);
      writeFileSync('own/weather/named.js', stub.replace('(arguments)', '(input)').replace('arguments }', 'arguments: input }'));
      const asItStands = await import('./own/weather/index.js').catch((error) => error.name);
      const { getWeather } = await import('./own/weather/named.js');
      globalThis.result = [asItStands, (await getWeather({ location: 'Bonn' })).structuredContent];`,
    );
    expect(data).toEqual(['SyntaxError', { tool: 'get_weather', received: { location: 'Bonn' } }]);
  });

  test('the catalog answers the questions of the contract, with all that a definition has [B12, B13]', async () => {
    const questions = example('ts', 'catalog')
      .replace('"name" | "name+description"', '"name+description"')
      .replaceAll(/^catalog\.(.*?);.*$/gm, 'answers.push(await catalog.$1);');
    const { data } = await run(
      'node',
      `const answers = [], query = 'get document', serverId = 'google-drive', name = 'get_document';
      ${questions}
      globalThis.result = answers;`,
    );
    const written = { module: 'google_drive', function: 'getDocument' };
    const entry = { serverId: 'google-drive', toolName: 'get_document', title: 'Get', ...written };
    const { name, icons, annotations } = TOOLS['google-drive'].tool;
    const definition = { ...entry, name, icons, annotations, inputSchema: INPUT };
    // Earlier programs have called it.
    const signature = expect.stringMatching(/^getDocument\(\{ documentId\?: string \}\)/);
    expect(data).toEqual([[{ ...entry, signature }], definition]);
  });

  test('the envelope has the fields of the contract, and the results of its own runner [B2, B3]', async () => {
    const source = `import sys\nglobal result\nprint('log', file=sys.stderr)\nresult = {'z': 'grüße', 'a': [1, 2.5]}`;
    const { line, envelope, stderr } = await run('python', source);
    const told = JSON.parse(example('json', 'envelope')) as object;
    expect(Object.keys(envelope)).toEqual(Object.keys(told));
    expect(Object.keys(envelope.result)).toEqual(Object.keys(JSON.parse(example('json', 'success')) as object));
    const reference = spawnSync('/usr/bin/python3', ['-c', example('python', 'reference-runner')], { input: source });
    const { result, input_digest, tool_name, approval_state, output_digest } = JSON.parse(reference.stdout.toString());
    const metrics = expect.anything();
    expect({ ...envelope.result, metrics }).toEqual({ ...result, metrics });
    expect({ input_digest, tool_name, approval_state }).toEqual({
      input_digest: envelope.input_digest,
      tool_name: envelope.tool_name,
      approval_state: envelope.approval_state,
    });
    expect(outputDigestByPython(reference.stdout.toString())).toBe(output_digest);
    expect(outputDigestByPython(line)).toBe(envelope.output_digest);
    expect(reference.stderr.toString()).toBe(stderr);
    const failed = await home.runner(['python'], 'raise KeyError("x")');
    const failure = JSON.parse(example('json', 'failure')) as { error: object };
    expect(Object.keys(failed.envelope.result)).toEqual(Object.keys(failure));
    expect(Object.keys(failed.error ?? {})).toEqual(Object.keys(failure.error));
  });

  test('what `normalize` gives has the type of the contract [B11]', () => {
    const program = `import { normalize, callTool } from './client/mcp_client.js';
      ${example('ts', 'normalized')}
      const shaped: ToolCallResult<unknown> = await normalize(callTool('a', 'b'));
      export const data: unknown = shaped.ok ? shaped.data : shaped.error.retryable;`;
    const files = new Map([
      ['/client/mcp_client.d.ts', PACKAGE_CLIENT_DECLARATIONS],
      ['/program.ts', program],
    ]);
    expect(typeCheckPrograms(files)).toEqual([]);
  });

  test("the contract's loop of self-correction is driven by what the runner answers [B3, B22]", () => {
    const driver = `import asyncio, json, subprocess
class model:
    tasks = []
    codes = ['while True: pass', 'result = len("done")', 'raise ValueError(1)']
    async def generate_code(task):
        model.tasks.append(task)
        return model.codes.pop(0)
class sandbox:
    async def run(code):
        words = [*${JSON.stringify([process.execPath, PROGRAM, '--config', home.config])}, 'runner', 'python', '--timeout', '900']
        return json.loads(subprocess.run(words, input=code, capture_output=True, text=True).stdout)['result']
${example('python', 'self-correction')}
print(json.dumps([asyncio.run(run_with_self_correction('count')), asyncio.run(run_with_self_correction('fail')), model.tasks]))`;
    const env = { PATH: process.env.PATH, HOME: home.folder, CODEMODE_KEYRING: 'file' };
    const told = JSON.parse(execFileSync('/usr/bin/python3', ['-c', driver], { env, encoding: 'utf8' })) as unknown[];
    expect(told).toEqual([4, { error: 'handoff_required' }, ['count', expect.stringContaining('attempt 1'), 'fail']]);
  });

  test('the prompt has every rule of the contract [B24]', async () => {
    const { stdout } = await home.run(['--config', home.config, 'prompt', '--profile', 'runner']);
    const rules = example('markdown', 'prompt-rules')
      .split('\n')
      .filter((line) => line !== '' && !/^ +\d\)/.test(line));
    for (const rule of rules) expect(stdout).toContain(rule);
    for (const name of ['searchTools({ query', 'getToolDefinition({ serverId, name })'])
      expect(stdout).toContain(`catalog.${name}`);
  });

  test('no piece of code is left out', () => {
    expect(EXAMPLES.filter(({ language, name }) => !used.has(`${language} ${name}`))).toEqual([]);
    expect(EXAMPLES).toHaveLength(14);
  });
});
