import { expect, test } from 'vitest';
import { nodeServer, openHome, PROGRAM, runProgram } from '../support/program.js';

/* A configuration that names itself: each host would start the next one, without end. */
test('a host that hosts have started four levels deep starts no more of them', async () => {
  using home = openHome({ mcpServers: { self: nodeServer(PROGRAM, 'mcp') } });
  const below = { ...home, environment: { ...home.environment, CODEMODE_DEPTH: '4' } };
  const { status, stderr } = await runProgram(below, 'servers');
  expect(status).toBe(2);
  expect(stderr).toContain('remove the server that starts codemode from mcpServers');
});
