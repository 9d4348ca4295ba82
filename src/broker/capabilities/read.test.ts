import { expect, test } from 'vitest';
import { readCapabilities } from './read.js';

const isServer = (name: string) => name === 'helpscout';
const read = (value: unknown) => readCapabilities(value, isServer);
const problem = (value: unknown) => {
  try {
    return `granted ${JSON.stringify(read(value))}`;
  } catch (error) {
    return (error as Error).message;
  }
};

test('a request without capabilities grants nothing', () => {
  expect([undefined, null, [], {}].map(read)).toEqual([{}, {}, {}, {}]);
});

test('strings name servers, tools, hosts with their port, and paths', () => {
  expect(
    read([
      'mcp:files',
      'mcp:github/get_*',
      'network:API.example.com:8443',
      'network:*.example.org',
      'filesystem:/data/x/',
    ]),
  ).toEqual({
    mcp: { servers: ['files', 'github'], tools: ['files/*', 'github/get_*'], maxCallsPerSecond: 5 },
    network: {
      destinations: [
        { host: 'api.example.com', ports: [8443] },
        { host: '*.example.org', ports: [443] },
      ],
      maxRequestsPerSecond: 10,
      maxRequestBytes: 1024 * 1024,
    },
    filesystem: { paths: ['/data/x'], isReadOnly: true, maxFileBytes: 1024 * 1024 },
  });
});

test("the document's own example grants the server of that name, not a host", () => {
  expect(read(['network:helpscout'])).toEqual({ mcp: { servers: ['helpscout'], maxCallsPerSecond: 5 } });
  expect(read(['network:other']).mcp).toBeUndefined();
});

test('the object of the contract is read with its defaults', () => {
  expect(read({ mcp: { allowedServers: ['files'] }, network: { allowedHosts: ['a.example'] } })).toEqual({
    mcp: { servers: ['files'], maxCallsPerSecond: 5 },
    network: {
      destinations: [{ host: 'a.example', ports: [443] }],
      maxRequestsPerSecond: 10,
      maxRequestBytes: 1048576,
    },
  });
});

test('an invalid capability is refused by name', () => {
  const cases: [unknown, string][] = [
    [['files'], 'capabilities: "files" is not a capability; write kind:target'],
    [[7], 'capabilities: "7"'.replace('"7"', '7')],
    [{ system: true }, 'capabilities: system'],
    [7, 'capabilities: Invalid input'],
    [['network:*'], 'too broad'],
    [['network:*.com'], 'too broad'],
    [['network:a*b.example'], 'too broad'],
    [['network:a.example:0'], 'names no host'],
    [['network:http://a.example'], 'names no host'],
    [['filesystem:reports'], 'is not absolute'],
    [{ filesystem: { allowedPaths: ['../x'] } }, 'is not absolute'],
    [{ mcp: { servers: ['x'] } }, 'mcp'],
    ['mcp:files', 'capabilities'],
    [{ network: { allowedPorts: [70_000] } }, 'network.allowedPorts.0'],
    [Array.from({ length: 1_001 }, () => 'mcp:a'), 'more than 1000'],
  ];
  for (const [value, expected] of cases) expect(problem(value)).toContain(expected);
});

test('a path with dots is resolved', () => {
  expect(read(['filesystem:/data/x/../y']).filesystem?.paths).toEqual(['/data/y']);
});

test('system capabilities are read by name, and disabled ones are not requested [C6]', () => {
  expect(read(['system:clock', 'system:env'])).toEqual({ system: ['clock', 'env'] });
  expect(read({ system: { clock: true, env: ['HOME'], shell: false } })).toEqual({ system: ['clock', 'env'] });
  expect(read({ system: {} })).toEqual({});
});
