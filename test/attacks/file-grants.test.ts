import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHome, startServe } from '../support/program.js';
import { listed, restClient } from '../support/rest.js';

/** Links below a granted folder that lead out of it, and a request that asks for the link itself. */
const root = mkdtempSync(join(tmpdir(), 'codemode-file-grants-'));
const [granted, outside, alias] = ['granted', 'outside', 'alias'].map((name) => join(root, name)) as [
  string,
  string,
  string,
];
for (const folder of [join(granted, 'sub'), join(granted, 'other'), outside]) mkdirSync(folder, { recursive: true });
for (const folder of [granted, join(granted, 'sub'), join(granted, 'other'), outside])
  writeFileSync(join(folder, 'note.txt'), folder);
symlinkSync(outside, join(granted, 'dirlink'));
symlinkSync(join(outside, 'note.txt'), join(granted, 'link.txt'));
symlinkSync(join(outside, 'later'), join(granted, 'dangling'));
symlinkSync(join(granted, 'sub'), join(granted, 'inner'));
symlinkSync(granted, alias);

let home: ReturnType<typeof openHome>;
let server: Awaited<ReturnType<typeof startServe>>;
let rest: ReturnType<typeof restClient>;
beforeAll(async () => {
  const capabilities = { filesystem: { allowedPaths: [granted], readOnly: false } };
  home = openHome({
    security: {
      auth: {
        tokens: [
          { ...listed('whole'), capabilities },
          { ...listed('sub'), capabilities: [`filesystem:${granted}/sub`] },
        ],
      },
      capabilities,
    },
  });
  server = await startServe(home);
  rest = restClient(server.url, server.token);
}, 60_000);
afterAll(async () => {
  await server?.stop();
  home?.[Symbol.dispose]();
  rmSync(root, { recursive: true, force: true });
});

const execute = async (code: string, capabilities: unknown, token = server.token) =>
  (await rest.post('/execute', token, { code, capabilities, timeout: 10_000 })) as {
    status: number;
    body: { result?: unknown; error?: { code?: string; details?: { violation?: string } } };
  };
const writable = (path: string) => ({ filesystem: { allowedPaths: [path], readOnly: false } });

test.each(['dirlink', 'link.txt', 'dangling', 'dirlink/note.txt', 'dirlink/none'])(
  'a request for %s, which leads out of what token and configuration grant, is refused',
  async (name) => {
    const path = join(granted, name);
    for (const token of [server.token, 'whole'])
      for (const asked of [[`filesystem:${path}`], writable(path)]) {
        const { status, body } = await execute(`return fs.readFile('${outside}/note.txt')`, asked, token);
        expect([status, body.error]).toMatchObject([
          403,
          { code: 'CAPABILITY_VIOLATION', details: { violation: `filesystem:${path}` } },
        ]);
      }
  },
);

test('a link that stays inside is granted, and so is a granted folder by another name', async () => {
  for (const [path, token] of [
    [`${granted}/inner`, 'sub'],
    [`${alias}/sub`, 'sub'],
    [`${alias}/sub`, server.token],
  ] as const)
    expect((await execute(`return fs.readFile('${path}/note.txt')`, [`filesystem:${path}`], token)).body).toMatchObject(
      { result: `${granted}/sub` },
    );
  const { status } = await execute('return 1', [`filesystem:${granted}/other`], 'sub');
  expect(status).toBe(403);
});

test('a folder that becomes a link during the run leads neither out nor to what the token lacks', async () => {
  const folder = join(granted, 'sub/swap');
  mkdirSync(folder);
  for (const [target, token] of [
    [outside, server.token],
    [join(granted, 'other'), 'sub'],
  ] as const) {
    const code = `const until = Date.now() + 5000;
      for (;;) {
        const found = await fs.readFile('${folder}/note.txt').catch((error) => error.message);
        if (!found.includes('does not exist')) return found;
        if (Date.now() > until) return 'the folder did not change';
        await new Promise((done) => setTimeout(done, 250));
      }`;
    const answer = execute(code, [`filesystem:${folder}`], token);
    await new Promise((resolve) => setTimeout(resolve, 500));
    renameSync(folder, `${folder}-away`);
    symlinkSync(target, folder);
    const { body } = await answer;
    expect(body.result).toContain(`not granted filesystem:${folder}/note.txt`);
    rmSync(folder);
    renameSync(`${folder}-away`, folder);
  }
});

test('nothing tells what exists behind a link that leads out', async () => {
  const reads = ['dirlink/note.txt', 'dirlink/none.txt'].map((name) => `fs.readFile('${granted}/${name}')`);
  const code = `return Promise.all([${reads.join(', ')}].map((each) => each.catch((error) => error.message)))`;
  const refused = expect.stringContaining('not granted');
  expect((await execute(code, [`filesystem:${granted}`], 'whole')).body.result).toEqual([refused, refused]);
});

test('the library refuses the same requests', async () => {
  const { createHost } = await import('../../dist/index.js');
  const host = await createHost({
    config: { security: { capabilities: { filesystem: { allowedPaths: [granted] } } } },
  });
  try {
    for (const name of ['dirlink', 'link.txt', 'dangling']) {
      const capabilities = [`filesystem:${granted}/${name}`];
      const result = await host.execute(`return fs.readFile('${outside}/note.txt')`, { capabilities });
      expect(result).toMatchObject({ success: false, error: { code: 'CAPABILITY_VIOLATION' } });
    }
  } finally {
    await host.close();
  }
});
