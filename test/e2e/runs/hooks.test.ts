import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyday, openHome, openStdio, run, until } from '../../support/program.js';

/** Of the home's folder: hooks are found from the configuration. */
const SEEN = 'seen.jsonl';
const OUTCOMES = 'outcomes.jsonl';

const SCRIPTS = {
  // Notes what it is asked, and refuses sums that are too large.
  'judge.sh': `#!/bin/sh
input=$(cat); echo "$input" >> ${SEEN}
case "$input" in *'"a":1000'*) echo "sums end at 999" >&2; exit 2;; esac`,
  'outcome.sh': `#!/bin/sh\ncat >> ${OUTCOMES}; echo >> ${OUTCOMES}`,
  'hang.sh': '#!/bin/sh\nsleep 600 & wait',
  'die.sh': '#!/bin/sh\nkill -9 $$',
  'garbage.sh': '#!/bin/sh\necho not json',
  'flood.sh': '#!/bin/sh\nyes | head -c 1000000',
  'json.sh': `#!/bin/sh\nprintf '%s' '{"decision":"deny","reason":"first line\\nsecond \\u001b[31mline"}'`,
};

const posted: unknown[] = [];
const web = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on('end', () => {
    posted.push(JSON.parse(body));
    if (request.url === '/moved') response.writeHead(302, { location: '/yes' }).end();
    else response.end(request.url === '/yes' ? '' : '{"decision":"deny","reason":"not over HTTP"}');
  });
});
let home: ReturnType<typeof openHome>;
let session: Awaited<ReturnType<typeof openStdio>>;

beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  const names = ['hang', 'die', 'garbage', 'flood', 'json', 'yes', 'no', 'moved', 'lenient', 'missing'];
  const of = (name: string, more: object) => ({ tools: `${name}/*`, ...more });
  home = openHome({
    mcpServers: Object.fromEntries(['judged', ...names].map((name) => [name, everyday()])),
    hooks: [
      of('judged', { command: './judge.sh' }),
      of('judged', { when: 'after', command: './outcome.sh' }),
      of('hang', { command: './hang.sh', timeout: '300ms' }),
      of('die', { command: './die.sh' }),
      of('garbage', { command: './garbage.sh' }),
      of('flood', { command: './flood.sh' }),
      of('json', { command: './json.sh' }),
      of('yes', { url: `${url}/yes` }),
      of('no', { url: `${url}/no` }),
      of('moved', { url: `${url}/moved` }),
      of('lenient', { command: './die.sh', onFailure: 'allow' }),
      of('missing', { command: './there-is-none.sh' }),
    ],
  });
  for (const [name, text] of Object.entries(SCRIPTS)) {
    writeFileSync(join(dirname(home.configFile), name), `${text}\n`);
    chmodSync(join(dirname(home.configFile), name), 0o755);
  }
  session = await openStdio(home);
}, 60_000);
afterAll(async () => {
  await session?.[Symbol.asyncDispose]();
  home?.[Symbol.dispose]();
  web.close();
});

/** The sum, or the message of the error. */
async function sum(server: string, a: number): Promise<unknown> {
  const code = `import { add } from '@codemode/servers/${server}';
    globalThis.__codemode_result__ = await add({ a: ${a}, b: 1 }).catch((error) => error.message);`;
  return (await run(session.client, code)).result;
}

function linesOf(name: string): Record<string, unknown>[] {
  const file = join(dirname(home.configFile), name);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a hook receives a call inside a program before it is sent, and its outcome', async () => {
  expect(await sum('judged', 1)).toEqual({ sum: 2 });
  const [before] = linesOf(SEEN);
  expect(before).toMatchObject({ event: 'before', server: 'judged', tool: 'add', arguments: { a: 1, b: 1 } });
  expect(before?.callId).toBe(`${before?.runId}/1`);
  await until(() => linesOf(OUTCOMES).length === 1);
  const [after] = linesOf(OUTCOMES);
  expect(after).toMatchObject({ event: 'after', callId: before?.callId, outcome: { ok: true, result: { sum: 2 } } });
});

test('exit status 2 refuses the call with the reason on stderr', async () => {
  expect(await sum('judged', 1000)).toBe('a hook refuses judged.add: sums end at 999');
});

test('a hook that hangs, dies, answers garbage or a megabyte, or is not there refuses the call', async () => {
  const failed = (name: string, file: string, why: RegExp) => async () =>
    expect(await sum(name, 1)).toMatch(
      new RegExp(`^a hook refuses ${name}\\.add: the hook ${file} failed for ${name}/add: ${why.source}$`),
    );
  await Promise.all(
    [
      failed('hang', 'hang.sh', /it gave no answer within 300 ms/),
      failed('die', 'die.sh', /it was ended by SIGKILL/),
      failed('garbage', 'garbage.sh', /its answer is not JSON: not json/),
      failed('flood', 'flood.sh', /it wrote more than 65536 bytes/),
      failed('missing', 'there-is-none.sh', /it could not be started \(ENOENT\)/),
    ].map((check) => check()),
  );
});

test('the reason of a hook is one visible line', async () => {
  expect(await sum('json', 1)).toBe('a hook refuses json.add: first line\\u000asecond \\u001b[31mline');
});

test('a hook over HTTP allows and refuses, and is not followed elsewhere', async () => {
  expect(await sum('yes', 1)).toEqual({ sum: 2 });
  expect(await sum('no', 1)).toBe('a hook refuses no.add: not over HTTP');
  expect(await sum('moved', 1)).toMatch(
    /^a hook refuses moved\.add: the hook 127\.0\.0\.1:\d+ failed .*: it could not be reached: .*redirect/,
  );
  expect(posted).toHaveLength(3);
});

test('a hook that may fail refuses nothing when it does', async () => {
  expect(await sum('lenient', 1)).toEqual({ sum: 2 });
  expect(session.stderr()).toContain('the hook');
});
