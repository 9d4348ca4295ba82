import { describe, expect, test } from 'vitest';
import { LedgerHome } from '../support/ledger.js';
import { needs } from '../support/needs.js';
import { type Home, openStdio } from '../support/program.js';
import { LANGUAGES, RunnerHome, read, type Sources } from '../support/runner.js';

describe.each(LANGUAGES)('a hostile %s program', needs('bubblewrap', 'python3'), (language) => {
  test('does not compute for free while a person is asked [B9, B16]', async () => {
    using home = new LedgerHome({ runner: { approvalWait: '300ms' }, sandbox: { limits: { timeout: '1s' } } });
    const environment = { PATH: process.env.PATH ?? '', HOME: home.folder, CODEMODE_HOME: home.path('state') };
    const place = { configFile: home.config, environment, work: home.folder } as unknown as Home;
    const client = { capabilities: { elicitation: {} } };
    await using session = await openStdio(place, 'legacy', client, ['--profile', 'runner']);
    session.client.setRequestHandler('elicitation/create', () => new Promise<never>(() => {}));
    const code = {
      node: `import { write } from './servers/ledger/index.js'; write({}).catch(() => write({})).catch(() => {}); for (;;);`,
      python: `import asyncio, threading
from client.mcp_client import call_tool_sync, ToolError
def ask():
    while True:
        try: call_tool_sync('ledger', 'write', {})
        except ToolError: pass
threading.Thread(target=ask, daemon=True).start()
while True: pass`,
    }[language];
    const { structuredContent } = await session.client.callTool({ name: `run_${language}`, arguments: { code } });
    expect(structuredContent).toMatchObject({ approval_state: 'PENDING', result: { error: { type: 'Timeout' } } });
    expect(home.lines).toEqual([]);
  });

  test('meets the policy with calls that it writes to the channel by hand [B15]', async () => {
    using home = new LedgerHome({ policy: { rules: [{ tools: ['ledger/erase'], decision: 'deny' }] } });
    const forged: Sources = {
      node: `import { callTool } from './client/mcp_client.js';
        const told = [];
        for (const target of ['erase', 'write', '../look', ''])
          await callTool('ledger', target, {}).catch(({ type }) => told.push(type));
        globalThis.result = told;`,
      python: `from client.mcp_client import call_tool, ToolError
result = []
for target in ('erase', 'write', '../look', ''):
    try:
        await call_tool('ledger', target, {})
    except ToolError as error:
        result.append(error.type)`,
    };
    const ended = read(await home.run(['--config', home.config, 'runner', language], { input: forged[language] }));
    expect(ended.data).toEqual(['ToolNotFound', 'ApprovalRequired', 'ToolNotFound', 'ToolNotFound']);
    expect(home.lines).toEqual([]);
  });

  test('does not get half a secret out where its output is cut [B8]', async () => {
    using home = new RunnerHome();
    const token = `ghp_${'a1B2'.repeat(9)}`;
    // Behind it come the mark of the cut, and room for the last line.
    const atTheCut = 256 * 1024 - 13 - 12 - 20;
    const { stderr } = await home.runner(
      [language],
      {
        node: `process.stderr.write('x'.repeat(${atTheCut}) + ' ${token} ' + 'y'.repeat(1000)); globalThis.result = 1;`,
        python: `import sys\nsys.stderr.write('x' * ${atTheCut} + ' ${token} ' + 'y' * 1000)\nresult = 1`,
      }[language],
    );
    expect(stderr.endsWith('<TRUNCATED>\n')).toBe(true);
    expect(stderr).not.toContain('ghp_');
    expect(stderr).toContain('x [redacted:');
  });
});
