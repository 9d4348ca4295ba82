import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.js';
import { LANGUAGES, RunnerHome, type Sources } from '../support/runner.js';
import { fixture } from '../support/upstreams.js';

/** A server with two tools whose names become one in a language: a rule about one must not be bypassed through the other. */
const named = (name: string) => ({ name, inputSchema: { type: 'object' } });
let home: RunnerHome;
beforeAll(() => {
  home = new RunnerHome();
  const script = { tools: ['delete_file', 'deleteFile', 'list_all', 'listAll', 'read'].map(named) };
  const file = home.write('files.json', script);
  home.write('codemode.config.json', {
    mcpServers: { files: { command: process.execPath, args: [fixture('scripted-server.mjs'), file] } },
    policy: { preset: 'open', rules: [{ tools: 'files/delete_file', decision: 'deny' }] },
    defaults: { codeMode: { excludedTools: ['files/listAll'] } },
  });
});
afterAll(() => home[Symbol.dispose]());

describe.each(LANGUAGES)('in %s', needs('bubblewrap', 'python3'), (language) => {
  const run = (sources: Sources) => home.runner([language], sources[language]);

  test('a tool that is denied cannot be called under another spelling of its name', async () => {
    const { data } = await run({
      node: `import * as files from './servers/files/index.js';
        import { callTool } from './client/mcp_client.js';
        const called = [];
        for (const name of ['delete_file', 'deleteFile', 'DELETE_FILE'])
          called.push(await callTool('files', name, {}).then(() => name, () => 'refused'));
        globalThis.result = [Object.keys(files).filter((name) => /delete/i.test(name)), called];`,
      python: `import servers.files as files
from client.mcp_client import call_tool
called = []
for name in ['delete_file', 'deleteFile', 'DELETE_FILE']:
    try:
        await call_tool('files', name, {})
        called.append(name)
    except Exception:
        called.append('refused')
result = [[name for name in dir(files) if 'delete' in name.lower()], called]`,
    });
    expect(data).toEqual([[], ['refused', 'refused', 'refused']]);
  });

  test('a tool that is left out leaves its name to no other', async () => {
    const { data } = await run({
      node: `import * as files from './servers/files/index.js';
        globalThis.result = Object.keys(files).filter((name) => /list/i.test(name));`,
      python: `import servers.files as files
result = [name for name in dir(files) if 'list' in name.lower()]`,
    });
    expect(data).toEqual([language === 'node' ? 'listAll__2' : 'list_all']);
  });
});
