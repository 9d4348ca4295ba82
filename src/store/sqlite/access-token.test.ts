import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { accessToken } from './access-token.js';

const base = mkdtempSync(join(tmpdir(), 'codemode-token-'));
const folder = join(base, 'state');
const file = join(folder, 'token');
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a token is made once, and only its owner can read it', async () => {
  const tokens = await Promise.all([accessToken(folder), accessToken(folder), accessToken(folder)]);
  expect(new Set([...tokens, await accessToken(folder), readFileSync(file, 'utf8').trim()]).size).toBe(1);
  expect(tokens[0]).toMatch(/^[\w-]{43}$/);
  expect([statSync(folder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
});

test('a token that others can read is not used', async () => {
  await accessToken(folder);
  chmodSync(file, 0o640);
  await expect(accessToken(folder)).rejects.toMatchObject({
    code: 'bad_config',
    message: expect.stringMatching(/other users can read.*delete/),
  });
});

test('a file that holds no token is not used', async () => {
  await accessToken(folder);
  for (const content of ['', 'short', 'x'.repeat(10_000), 'two lines of text\nthat are long enough to be a token']) {
    writeFileSync(file, content);
    await expect(accessToken(folder)).rejects.toMatchObject({
      code: 'bad_config',
      message: expect.stringMatching(/holds no access token/),
    });
  }
});
