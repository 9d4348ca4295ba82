import { expect, test } from 'vitest';
import type { CapabilitySet } from '../../domain/capability.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { intersectionOf, shortfallsOf, violationOf, withinBounds } from './bounds.js';
import { isToolGranted } from './run-grants.js';

const network = (...destinations: [string, ...number[]][]): CapabilitySet => ({
  network: {
    destinations: destinations.map(([host, ...ports]) => ({ host, ports })),
    maxRequestsPerSecond: 10,
    maxRequestBytes: 1_000,
  },
});
const files = (paths: string[], isReadOnly = true, extensions?: string[]): CapabilitySet => ({
  filesystem: { paths, isReadOnly, maxFileBytes: 1_000, ...omitUndefined({ extensions }) },
});
const mcp = (servers: string[], tools?: string[]): CapabilitySet => ({
  mcp: { servers, maxCallsPerSecond: 5, ...omitUndefined({ tools }) },
});

test('a request beyond the bounds is refused, with the capability that would grant it', () => {
  const cases: [CapabilitySet, CapabilitySet, string | undefined][] = [
    [{}, {}, undefined],
    [mcp(['files']), {}, 'mcp:files'],
    [mcp(['files']), mcp(['*']), undefined],
    [mcp(['*']), mcp(['files']), 'mcp:*'],
    [mcp(['fi*']), mcp(['f*']), undefined],
    [mcp(['files'], ['files/write']), mcp(['*'], ['files/read*']), 'mcp:files/write'],
    [network(['api.example.com', 443]), network(['*.example.com', 443]), undefined],
    [network(['api.example.com', 443, 80]), network(['*.example.com', 443]), 'network:api.example.com:80'],
    [network(['*.example.com', 443]), network(['x.example.com', 443]), 'network:*.example.com:443'],
    [network(['*.a.example.com', 443]), network(['*.example.com', 443]), undefined],
    [files(['/data/a']), files(['/data']), undefined],
    [files(['/data']), files(['/data/a']), 'filesystem:/data'],
    [files(['/data'], false), files(['/data'], true), 'filesystem:/data for writing'],
    [files(['/data'], true), files(['/data'], false), undefined],
    [files(['/data'], true, ['.csv', '.exe']), files(['/data'], true, ['.csv']), 'filesystem.allowedExtensions: .exe'],
    [{ mcp: { servers: ['files'], maxCallsPerSecond: 6 } }, mcp(['*']), 'mcp.maxCallsPerSecond: 6'],
    [{ system: ['clock', 'env'] }, { system: ['clock'] }, 'system:env'],
    [{ system: ['clock'] }, { system: ['clock'] }, undefined],
  ];
  for (const [asked, bounds, violation] of cases)
    expect(violationOf(asked, bounds), JSON.stringify([asked, bounds])).toBe(violation);
});

test('where bounds give less than the defaults, that is said', () => {
  const asked = { mcp: { servers: ['files'], maxCallsPerSecond: 5 }, ...files(['/data']) };
  const bounds = {
    mcp: { servers: ['*'], tools: ['files/read*'], maxCallsPerSecond: 2 },
    ...files(['/data'], true, ['.csv']),
  };
  expect(violationOf(asked, bounds)).toBeUndefined();
  expect(shortfallsOf(asked, bounds)).toEqual([
    'at most 2 tool calls a second',
    'only files that end in .csv',
    'only the tools files/read*',
  ]);
  expect(shortfallsOf(mcp(['files']), mcp(['*'], ['files/*', 'other/one']))).toEqual([]);
});

test.each<[string[], string[], string[], boolean]>([
  [['weather'], ['weather/forecast'], ['forecast'], true],
  [['weather'], ['weather/forecast'], ['weather.forecast'], true],
  [['weather'], ['forecast'], ['weather/forecast'], true],
  [['weather'], ['weather.forecast'], ['weather/forecast'], true],
  [['weather'], ['weather/fore*'], ['f*'], true],
  [['weather'], ['forecast'], ['*'], true],
  // The name alone means the tool of every server that is asked for.
  [['weather', 'other'], ['forecast'], ['weather/forecast'], false],
  [['w*'], ['forecast'], ['weather/forecast'], false],
  [['weather'], ['weather/*'], ['forecast'], false],
  [['weather'], ['*'], ['forecast'], false],
  [['weather'], ['other.forecast'], ['weather/forecast'], false],
  [['weather'], ['weather.forecast'], ['weather/look'], false],
  [['x'], ['a.b'], ['*.b'], true],
])('of %j the tools %j are within a grant of %j: %j', (servers, asked, granted, isWithin) => {
  expect(violationOf(mcp(servers, asked), mcp(['*'], granted)) === undefined).toBe(isWithin);
});

test('a name that is also an id reaches only what the grant means by it', () => {
  const bounds = mcp(['*'], ['*.b']);
  const { mcp: reach } = withinBounds(mcp(['*'], ['a.b']), bounds);
  const isGranted = (serverId: string, name: string) => isToolGranted({ serverId, name }, reach);
  expect([isGranted('x', 'a.b'), isGranted('a', 'b')]).toEqual([true, false]);
  const { mcp: byId } = withinBounds(mcp(['weather'], ['weather.look']), mcp(['*'], ['weather/look']));
  expect(isToolGranted({ serverId: 'weather', name: 'look' }, byId)).toBe(true);
  expect(isToolGranted({ serverId: 'weather', name: 'weather.look' }, byId)).toBe(false);
});

test('rates, sizes, tools and endings are the lesser of both', () => {
  const bounds = {
    ...mcp(['*'], ['files/read*']),
    ...files(['/data'], true, ['.csv', '.txt']),
    network: { destinations: [], maxRequestsPerSecond: 2, maxRequestBytes: 9_999 },
  };
  const asked = { ...mcp(['files']), ...files(['/data'], true, ['.csv', '.exe']), ...network(['a.example', 443]) };
  const { mcp: servers, filesystem, network: net } = withinBounds(asked, bounds);
  expect(servers).toEqual({
    servers: ['files'],
    tools: ['files/read*'],
    maxCallsPerSecond: 5,
    callerMaxCallsPerSecond: 5,
  });
  expect(filesystem?.extensions).toEqual(['.csv']);
  expect(net).toMatchObject({ maxRequestsPerSecond: 2, maxRequestBytes: 1_000 });
});

test('a token reaches what it and the configuration both grant, whichever names it more narrowly', () => {
  const token: CapabilitySet = {
    ...network(['*.example.com', 443, 80], ['other.test', 443]),
    ...files(['/data', '/etc'], false, ['.csv', '.txt']),
    ...mcp(['files', 'git*']),
  };
  const configured: CapabilitySet = {
    ...network(['api.example.com', 443], ['*.test', 443]),
    ...files(['/data/shared', '/var'], true, ['.csv']),
    mcp: { servers: ['*hub', 'files'], tools: ['files/read*', 'github/*'], maxCallsPerSecond: 2 },
  };
  const both = intersectionOf(token, configured);
  expect(both.network?.destinations).toEqual([
    { host: 'api.example.com', ports: [443] },
    { host: 'other.test', ports: [443] },
  ]);
  expect(both.filesystem).toMatchObject({ paths: ['/data/shared'], isReadOnly: true, extensions: ['.csv'] });
  const isGranted = (serverId: string, name: string) => isToolGranted({ serverId, name }, both.mcp);
  expect(isGranted('files', 'read_one')).toBe(true);
  expect(isGranted('files', 'write')).toBe(false);
  expect(isGranted('github', 'look')).toBe(true);
  expect(isGranted('gitlab', 'look')).toBe(false);
  expect(isGranted('otherhub', 'look')).toBe(false);
  expect(both.mcp?.maxCallsPerSecond).toBe(2);
  expect(intersectionOf(token, mcp(['*']))).not.toHaveProperty('filesystem');
  expect(intersectionOf(token, mcp(['*']))).not.toHaveProperty('network');
});
