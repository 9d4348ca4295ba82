import { expect, test } from 'vitest';
import { type CapabilitySet, DEFAULT_GRANT_LIMITS } from '../../domain/capability.js';
import type { CallerId } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { FILES_SERVER } from '../../upstream/capabilities/files.js';
import { NETWORK_SERVER } from '../../upstream/capabilities/network.js';
import { openRunContext } from '../run-context.js';
import { RunGrants } from './run-grants.js';

const runWith = (grants?: CapabilitySet, caller = 'ann') => ({
  ...openRunContext('run', caller as CallerId, 'unified', ''),
  ...omitUndefined({ grants }),
});
const callOf = (serverId: string, name: string) => ({
  tool: { serverId, name },
  serverPath: serverId,
  exportName: name,
});
const mcp = (servers: string[], tools?: string[], maxCallsPerSecond = 5): CapabilitySet => ({
  mcp: { servers, maxCallsPerSecond, ...omitUndefined({ tools }) },
});
const TOOL = { serverId: 'files', name: 'read' };
const never = new AbortController().signal;

test('a call without a grant is refused, with the capability that would grant it', () => {
  const grants = new RunGrants();
  const refused = (set: CapabilitySet | undefined, server: string, name: string) =>
    grants.refusalOf({ ...callOf(server, name), run: runWith(set), input: {} })?.fields?.violation;
  expect(refused(undefined, 'files', 'read')).toBeUndefined();
  expect(refused({}, 'files', 'read')).toBe('mcp:files');
  expect(refused(mcp(['files']), 'files', 'read')).toBeUndefined();
  expect(refused(mcp(['files']), 'files2', 'read')).toBe('mcp:files2');
  expect(refused(mcp(['f*'], ['files/read*', 'list']), 'files', 'read_one')).toBeUndefined();
  expect(refused(mcp(['f*'], ['files/read*', 'list']), 'fax', 'list')).toBeUndefined();
  expect(refused(mcp(['f*'], ['files/read*', 'list']), 'files', 'write')).toBe('mcp:files/write');
  expect(refused(mcp(['files', 'fax'], ['files.write']), 'files', 'write')).toBeUndefined();
  expect(refused(mcp(['files', 'fax'], ['files.write']), 'fax', 'write')).toBe('mcp:fax/write');
});

test("a caller's rate counts all its runs, and another caller has its own", () => {
  const grants = new RunGrants();
  const [one, same, other] = ['ann', 'ann', 'bob'].map((caller) => runWith(mcp(['*'], undefined, 2), caller)) as [
    ReturnType<typeof runWith>,
    ReturnType<typeof runWith>,
    ReturnType<typeof runWith>,
  ];
  expect([one, one].map((run) => grants.takeRate(run, TOOL))).toEqual([undefined, undefined]);
  expect(grants.takeRate(one, TOOL)).toMatchObject({ limit: 'rate', retryAfterMs: expect.any(Number) });
  expect(grants.takeRate(same, TOOL)).toMatchObject({ limit: 'rate' });
  expect(grants.takeRate(other, TOOL)).toBeUndefined();
  expect(grants.takeRate(runWith(), TOOL)).toBeUndefined();
});

test('a fourth concurrent call waits until one of three has ended', async () => {
  const grants = new RunGrants();
  const run = runWith(mcp(['*']));
  const inside = await Promise.all([1, 2, 3].map(() => grants.enter(run, TOOL, never)));
  let hasEntered = false;
  const fourth = grants.enter(run, TOOL, never).then((entry) => {
    hasEntered = true;
    return entry;
  });
  await new Promise(setImmediate);
  expect(hasEntered).toBe(false);
  if (inside[0]?.kind === 'entered') inside[0].leave();
  expect((await fourth).kind).toBe('entered');
});

test('files have no rate, and wait neither for calls nor for requests', async () => {
  const grants = new RunGrants();
  const run = runWith(mcp(['*'], undefined, 1));
  const file = { serverId: FILES_SERVER, name: 'readFile' };
  expect([file, file, TOOL, file].map((tool) => grants.takeRate(run, tool))).toEqual(Array(4).fill(undefined));
  await Promise.all([1, 2, 3].map(() => grants.enter(run, TOOL, never)));
  expect((await grants.enter(run, file, never)).kind).toBe('entered');
});

test('a network request is checked against its own grant', () => {
  const grants = new RunGrants();
  const network = (host: string, ...ports: number[]): CapabilitySet => ({
    network: { destinations: [{ host, ports }], maxRequestsPerSecond: 1, maxRequestBytes: 1 },
  });
  const refused = (set: CapabilitySet, url: string) =>
    grants.refusalOf({ ...callOf(NETWORK_SERVER, 'fetch'), run: runWith(set), input: { url } })?.fields?.violation;
  expect(refused(mcp(['*']), 'https://a.example/x')).toBe('network:a.example:443');
  expect(refused(network('a.example', 443), 'https://a.example/x')).toBeUndefined();
  expect(refused(network('a.example', 443), 'http://a.example/x')).toBe('network:a.example:80');
  expect(refused(network('*.example', 443), 'https://a.example/')).toBeUndefined();
  const run = runWith(network('a.example', 443));
  const tool = { serverId: NETWORK_SERVER, name: 'fetch' };
  expect(grants.takeRate(run, tool)).toBeUndefined();
  expect(grants.takeRate(run, tool)).toMatchObject({ limit: 'rate' });
});

test('a run has its own rate, and all runs of a caller share another', () => {
  const grants = new RunGrants();
  const set: CapabilitySet = { mcp: { servers: ['*'], maxCallsPerSecond: 2, callerMaxCallsPerSecond: 3 } };
  const [one, other] = [runWith(set), runWith(set)];
  const taken = [one, one, one, other, other].map((run) => grants.takeRate(run, TOOL) === undefined);
  expect(taken).toEqual([true, true, false, true, false]);
});

test('a run without a grant has the rate that the configuration sets for every caller', () => {
  const grants = new RunGrants({ ...DEFAULT_GRANT_LIMITS, maxCallsPerSecond: 1 });
  expect(grants.takeRate(runWith(), TOOL)).toBeUndefined();
  expect(grants.takeRate(runWith(), TOOL)).toMatchObject({ limit: 'rate' });
  expect(grants.takeRate(runWith(undefined, 'bob'), TOOL)).toBeUndefined();
});
