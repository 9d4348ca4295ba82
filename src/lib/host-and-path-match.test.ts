import { expect, test } from 'vitest';
import { coversHost, coversPath } from './host-and-path-match.js';

test('a wildcard covers what is below its name, and no address', () => {
  const below = ['api.example.com', 'a.b.example.com', 'API.EXAMPLE.COM', 'api.example.com.'];
  const not = ['example.com', 'evilexample.com', 'api.example.com.evil.org', '10.0.0.1', '::1', ''];
  expect([...below, ...not].filter((host) => coversHost('*.example.com', host))).toEqual(below);
  expect(coversHost('*.3.4', '1.2.3.4')).toBe(false);
});

test('a folder covers what is below it, and not what only begins like it', () => {
  const paths = ['/data/reports', '/data/reports/a/b', '/data/reports-2', '/data', '/data/report'];
  expect(paths.filter((path) => coversPath('/data/reports', path))).toEqual(paths.slice(0, 2));
});
