import { expect, test } from 'vitest';
import { type GuardRules, hostProblem, originProblem } from './guards.js';

const local = { hosts: ['127.0.0.1'], isOpenToNetwork: false, origins: [] };
const open = { hosts: ['tools.example'], isOpenToNetwork: true, origins: ['https://app.example'] };
const passes = (rules: GuardRules, names: (string | undefined)[]) =>
  names.filter((name) => hostProblem(name, rules) === undefined);

test('only loopback names reach a host that listens on loopback, on any port', () => {
  const good = ['localhost', 'LOCALHOST:3000', '127.0.0.1:1', '[::1]:3000'];
  const bad = [
    ...['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', 'evil.example:3000', 'localhost.', '192.168.0.7'],
    ...['user@localhost', 'localhost/x', 'localhost evil', '', undefined, '[::1', 'http://localhost'],
  ];
  expect(passes(local, [...good, ...bad])).toEqual(good);
});

test('a host that listens to the network takes addresses and the names it was given', () => {
  const good = ['192.168.0.7:3000', '[fe80::1]', 'tools.example', 'Tools.Example:8080', 'localhost'];
  expect(passes(open, [...good, 'other.example', 'tools.example.evil.example'])).toEqual(good);
});

test('a web page passes if it is our own or was allowed', () => {
  const problem = (origin: string | undefined) => originProblem(origin, 'localhost:3000', open) === undefined;
  expect([undefined, 'http://localhost:3000', 'https://app.example'].map(problem)).toEqual([true, true, true]);
  const foreign = ['null', '', 'http://localhost:3001', 'https://evil.example', 'https://app.example.evil.example'];
  expect(foreign.map(problem)).toEqual(foreign.map(() => false));
});
