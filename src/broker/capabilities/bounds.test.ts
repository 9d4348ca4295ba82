import { expect, test } from 'vitest';
import type { CapabilitySet } from '../../domain/capability.js';
import { shortfallsOf, violationOf, withinBounds } from './bounds.js';

const network = (...destinations: [string, ...number[]][]): CapabilitySet => ({
  network: {
    destinations: destinations.map(([host, ...ports]) => ({ host, ports })),
    maxRequestsPerSecond: 10,
    maxRequestBytes: 1_000,
  },
});
const files = (paths: string[], isReadOnly = true, extensions?: string[]): CapabilitySet => ({
  filesystem: { paths, isReadOnly, maxFileBytes: 1_000, ...(extensions === undefined ? {} : { extensions }) },
});
const mcp = (servers: string[], tools?: string[]): CapabilitySet => ({
  mcp: { servers, maxCallsPerSecond: 5, ...(tools === undefined ? {} : { tools }) },
});

test('what is asked for beyond the bounds is named in the words that would grant it', () => {
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
