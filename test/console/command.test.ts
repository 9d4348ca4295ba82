import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'libsql';
import { expect, test } from 'vitest';
import { needs } from '../support/needs.js';
import { openHome, runProgram, startProgram } from '../support/program.js';

test(
  'codemode console serves by itself, for the console alone, and later links are for that host',
  needs('bubblewrap'),
  async () => {
    using home = openHome({ mcpServers: {} });
    const child = startProgram(home, 'console', '--no-open', '--port', '0');
    try {
      const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
      const link = new URL(chunk.toString().trim());
      expect([link.hostname, link.hash.length]).toEqual(['127.0.0.1', '#link='.length + 43]);
      expect((await fetch(`${link.origin}/`)).status).toBe(200);
      // No agent is served here, with whichever token.
      for (const path of ['/mcp', '/api/v1/tools'])
        expect((await fetch(`${link.origin}${path}`, { headers: { authorization: 'Bearer x' } })).status).toBe(401);
      const second = await runProgram(home, 'console', '--no-open');
      expect([second.status, new URL(second.stdout.trim()).origin]).toEqual([0, link.origin]);
      // The user has made the approver's secret: from now on a program makes no link that may approve.
      writeFileSync(join(home.state, 'approver'), 'AAAA.BBBB\n');
      expect(await runProgram(home, 'console', '--no-open')).toMatchObject({
        status: 2,
        stdout: '',
        stderr: expect.stringContaining('CODEMODE_APPROVER_SECRET'),
      });
    } finally {
      child.kill('SIGTERM');
    }
    expect(await once(child, 'exit')).toEqual([0, null]);
  },
);

test('a state folder of a newer version is refused, with what to do', async () => {
  using home = openHome({ mcpServers: {} });
  const file = new Sqlite(join(home.state, 'codemode.db'));
  file.exec('PRAGMA user_version = 9999');
  file.close();
  expect(await runProgram(home, 'console', '--no-open')).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining('was written by a newer codemode; use that one'),
  });
});
