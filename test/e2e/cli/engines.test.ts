import { expect, test } from 'vitest';
import { startCodemode } from '../../support/codemode-client.js';
import { LedgerHome } from '../../support/ledger.js';

/** QuickJS computes it for seconds. */
const LONG = 'let n = 0; for (let i = 0; i < 4e7; i++) n = (n + i * i) % 1000003;';

test('a run moved to V8 between calls is suspended, approved, resumed and shown with its engine', async () => {
  using home = new LedgerHome({ sandbox: { engine: 'auto' } });
  const { runId = '' } = await home.program(`import { look, write } from '@codemode/servers/ledger';
    const drawn = Math.random(); await look({ text: 'a' }); ${LONG}
    const { did } = await write({ text: String(n) });
    globalThis.__codemode_result__ = [did, n, drawn === drawn];`);
  const [approval] = await home.pending();
  expect(approval).toMatchObject({ runId, toolName: 'write', arguments: { text: '416783' } });
  const before = home.lines;
  await home.approveInStore(approval?.id ?? '');
  expect(await home.resume(runId)).toMatchObject({ state: 'succeeded' });
  // What it had done before is not done again.
  expect(home.lines.slice(0, before.length)).toEqual(before);
  expect(home.lines).toHaveLength(before.length + 1);
  expect(await home.show(runId)).toMatchObject({
    engine: 'v8',
    response: { result: [expect.anything(), 416_783, true] },
  });
});

test('an answer over MCP says that its program ended in V8, where no model reads it', async () => {
  await using codemode = await startCodemode({ config: { sandbox: { engine: 'v8' } } });
  const { _meta, structuredContent } = await codemode.client.callTool({
    name: 'codemode_run',
    arguments: { code: 'globalThis.__codemode_result__ = 6 * 7;' },
  });
  expect(_meta).toEqual({ 'io.github.codemode/engine': 'v8' });
  expect(structuredContent).toMatchObject({ result: 42 });
  expect(JSON.stringify(structuredContent)).not.toContain('V8');
});
