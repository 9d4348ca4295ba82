import { expect, test } from 'vitest';
import { startScripts } from '../../support/code-execution.js';
import { everyday } from '../../support/program.js';

// Longer than the minute that a server's calls have under other contracts: nothing shorter shows the difference.
const LONG_MS = 61_000;

test('one call may take as long as timeout_ms allows [D6]', { timeout: 2 * LONG_MS }, async () => {
  await using scripts = await startScripts({ servers: { everyday: everyday() } });
  const request = { code: `call_tool('everyday', 'slow', { ms: ${LONG_MS} }).ok`, options: { timeout_ms: 110_000 } };
  const { structuredContent } = await scripts.client.callTool(
    { name: 'code_execution', arguments: request },
    { timeout: 2 * LONG_MS },
  );
  expect(structuredContent).toEqual({ ok: true, value: true });
});
