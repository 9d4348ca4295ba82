import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Approvals } from '../../src/broker/approvals/approvals.js';
import { ToolChecker } from '../../src/broker/arguments/tool-checker.js';
import { Broker } from '../../src/broker/broker.js';
import { CallLimits } from '../../src/broker/limits/call-limits.js';
import { credentialsOf } from '../../src/broker/redaction/known-secrets.js';
import { Redactor } from '../../src/broker/redaction/redactor.js';
import { openRunContext } from '../../src/broker/run-context.js';
import { exampleInput } from '../../src/catalog/examples.js';
import { unwrapOutcome } from '../../src/host/calls/unwrap.js';
import { unseal } from '../../src/lib/secrets/sealed.js';
import type { SandboxRun } from '../../src/sandbox/sandbox-run.js';
import { openGate } from '../support/policy.js';
import { call, openHome, openStdio, ready, runProgram } from '../support/program.js';
import { CALLER, openSandbox } from '../support/sandbox.js';
import { createRegistry, definition, fixture, stdio } from '../support/upstreams.js';

/**
 * Servers that tell the credentials they were given wherever they can speak: in results, errors, progress, logs, names,
 * descriptions, on stderr; plain and encoded. Everything that comes out of the host is searched for them.
 */

const TOKEN = 'env/t0ken+"with" quotes & 7 more';
const BEARER = 'bearer-tok3n-of-the-header';
const API_KEY = 'x-api-k3y-of-a-header';
const QUERY_KEY = 'k3y-in-the-address';
const SECRETS = [TOKEN, BEARER, API_KEY, QUERY_KEY];

/** The forms of a secret that must not be found: as it is, escaped, percent-encoded, in hexadecimal, and in base64 at any place. */
function traces(secret: string): string[] {
  const base64 = [0, 1, 2].map((offset) => {
    const text = Buffer.from('x'.repeat(offset) + secret).toString('base64');
    return text.slice(offset === 0 ? 0 : offset + 1, offset === 0 ? 10 : offset + 11);
  });
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('hex'),
    ...base64.flatMap((each) => [each, each.replaceAll('+', '-').replaceAll('/', '_')]),
  ];
}

function found(text: string): string[] {
  return SECRETS.flatMap(traces).filter((trace) => text.includes(trace));
}

const PROGRAM = `
  import * as local from '@codemode/servers/leaky';
  import * as remote from '@codemode/servers/remote';
  import { listTools, describeServer, searchTools } from '@codemode/discovery';
  const seen = [];
  for (const server of [local, remote])
    for (const name of ['result', 'text', 'error', 'protocolError', 'progress', 'mixed', 'halves']) {
      try { seen.push(await server[name]({})) }
      catch (error) { seen.push({ ...error, name: error.name, message: error.message, hint: error.hint, stack: error.stack }); console.error(error) }
    }
  // What came in two pieces is put together here: on its way out it is met again.
  const joined = seen.filter((each) => each.halves).flatMap((each) => each.halves.map((halves) => halves.join('')));
  console.log(...joined);
  console.log(JSON.stringify(seen));
  seen.push(await listTools('leaky', { detail: 'full' }), await describeServer('remote'), await searchTools('tells'));
  globalThis.__codemode_result__ = { seen, joined: joined.map((each) => btoa(each)) };`;

let http: ChildProcess;
let port = 0;
beforeAll(async () => {
  http = spawn(process.execPath, [fixture('leaky-server.mjs'), 'http'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(http.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  ({ port } = JSON.parse(line.toString()) as { port: number });
});
afterAll(() => http.kill('SIGKILL'));

function config() {
  return {
    mcpServers: {
      leaky: { command: process.execPath, args: [fixture('leaky-server.mjs'), 'stdio'], env: { LEAK_TOKEN: TOKEN } },
      remote: {
        url: `http://127.0.0.1:${port}/mcp?key=${QUERY_KEY}`,
        headers: { Authorization: `Bearer ${BEARER}`, 'X-Api-Key': API_KEY },
      },
    },
  };
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

test('echoes the credentials it was given: nothing that comes out of the host has them [B17]', async () => {
  using home = openHome(config());
  const heard: string[] = [];
  let stderr = '';
  {
    await using session = await openStdio(home);
    await ready(session.client, 'leaky', 'remote');
    const answer = await call(
      session.client,
      { code: PROGRAM },
      { onprogress: (each) => heard.push(JSON.stringify(each)) },
    );
    heard.push(JSON.stringify(answer), JSON.stringify(await session.client.listTools()));
    heard.push(session.client.getInstructions() ?? '');
    for (const { uri } of (await session.client.listResources()).resources)
      heard.push(JSON.stringify(await session.client.readResource({ uri })));
    // What a program put together is not seen in the response, and it is told so.
    const { logs, toolTrace, diagnostics } = answer.structuredContent as unknown as Record<string, object[]>;
    expect(toolTrace).toHaveLength(14);
    expect(JSON.stringify(logs)).toContain('[redacted:credential]');
    expect(diagnostics).toContainEqual(expect.objectContaining({ code: 'REDACTED' }));
    const broken = await call(session.client, {
      code: `import { halves } from '@codemode/servers/leaky';
      throw new Error((await halves({})).halves[0].join(''))`,
    });
    heard.push(JSON.stringify(broken));
    stderr = session.stderr();
  }
  for (const words of [
    ['audit', 'export'],
    ['audit', '--json'],
    ['servers', '--json'],
    ['types'],
    ['tools', '--detail', 'full', '--json'],
    ['prompt'],
  ]) {
    const { stdout, stderr: said } = await runProgram(home, ...words);
    heard.push(stdout, said);
  }
  expect(heard.join('\n')).toContain('[redacted:credential]');
  for (const text of heard) expect([text.slice(0, 200), found(text)]).toEqual([text.slice(0, 200), []]);
  expect(found(stderr)).toEqual([]);
  const files = filesBelow(home.state);
  expect(files.some((file) => file.includes('catalog'))).toBe(true);
  for (const file of files) expect([file, found(readFileSync(file, 'latin1'))]).toEqual([file, []]);
});

test('direct calls and the records of redactions are clean too [B17, B18]', async () => {
  using home = openHome({ ...config(), defaults: { codeMode: { enabled: false } } });
  {
    await using session = await openStdio(home);
    await ready(session.client, 'leaky').catch(() => {});
    const tools = (await session.client.listTools()).tools.map(({ name }) => name);
    const heard: string[] = [];
    for (const name of tools.filter((each) => each.startsWith('leaky__')))
      heard.push(
        JSON.stringify(
          await session.client.callTool(
            { name, arguments: {} },
            { onprogress: (each) => heard.push(JSON.stringify(each)) },
          ),
        ),
      );
    expect(heard.length).toBeGreaterThan(6);
    expect(found(heard.join('\n'))).toEqual([]);
  }
  const { stdout } = await runProgram(home, 'audit', 'export', '--tool', 'result');
  expect(JSON.parse(stdout.split('\n')[0] as string)).toMatchObject({
    toolName: 'result',
    redactions: { credential: expect.any(Number) },
  });
});

test('searches its memory for the answer that the program holds as stored: nothing is there [B17]', async () => {
  const key = new Uint8Array(32).fill(7);
  await using box = await openSandbox({ max: 1 }, key);
  await using registry = createRegistry();
  const leaky = definition('leaky', stdio(fixture('leaky-server.mjs'), ['stdio'], { LEAK_TOKEN: TOKEN }));
  const adapter = registry.register(leaky);
  const { tools } = await adapter.listTools();
  const redactor = new Redactor(credentialsOf(leaky), { patterns: true, emails: false, extra: [], allow: [] });
  // Nothing here needs a person.
  const approvals = undefined as unknown as Approvals;
  const checker = new ToolChecker(exampleInput);
  const gate = openGate({ preset: 'open' });
  const limits = new CallLimits([]);
  const broker = new Broker({ registry, checker, gate, limits, isOutputStrict: false, redactor, approvals });
  const source = `
    import { result, error, hold } from '@codemode/servers/test';
    const held = [await result({}), await error({}).catch((thrown) => thrown)];
    globalThis.kept = JSON.stringify(held);
    await hold();`;
  const program = box.program(source, { functions: { result: () => null, error: () => null, hold: () => null } });
  let isHeld = false;
  const { run } = await box.sandbox.start(
    { caller: CALLER, program },
    {
      onCall: async (guestCall, signal) => {
        const name = guestCall.target.replace('test/', '');
        if (name === 'hold') {
          isHeld = true;
          return new Promise(() => {});
        }
        const tool = tools.find((each) => each.name === name) as (typeof tools)[number];
        const run = openRunContext('run', CALLER, 'codemode', source);
        return unwrapOutcome(
          await broker.handle({ run, number: 1, tool, serverPath: 'leaky', exportName: name, input: {}, signal }),
        );
      },
    },
  );
  while (!isHeld || run?.isWaiting !== true) await new Promise((resolve) => setTimeout(resolve, 1));
  const { sealed, codeDigest } = await box.sandbox.suspend(run as SandboxRun);
  const owner = [run?.id as string, CALLER, codeDigest];
  const plain = unseal(key, { purpose: 'suspended program', owner }, sealed) as Buffer;
  const headEnd = 4 + plain.readUInt32LE(0);
  const { journal } = JSON.parse(plain.toString('utf8', 4, headEnd)) as { journal: string };
  const memory = brotliDecompressSync(plain.subarray(headEnd)).toString('latin1');
  const wide = memory.replaceAll('\0', ''); // texts with a character beyond Latin-1 have two bytes each
  for (const text of [journal, Buffer.from(journal, 'base64').toString('latin1'), memory, wide])
    expect(found(text)).toEqual([]);
  expect(memory).toContain('[redacted:credential]');
});
