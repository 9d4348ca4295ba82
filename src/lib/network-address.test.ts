import { expect, test } from 'vitest';
import { addressKind, isLoopbackName } from './network-address.js';

test.each([
  ['loopback', ['127.0.0.1', '127.255.0.9', '::1', '[::1]', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::127.0.0.1']],
  [
    'private',
    ['10.0.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', 'fd00::1', '::ffff:a00:1', '64:ff9b::c0a8:101'],
  ],
  ['special', ['169.254.169.254', 'fe80::1%eth0', '0.0.0.0', '::', '224.0.0.1', '255.255.255.255', '2001:db8::1']],
  ['special', ['2002:a9fe:a9fe::1', '::ffff:169.254.169.254', 'ff02::1', '192.0.2.1', '2001::1']],
  ['public', ['8.8.8.8', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::1']],
] as const)('these addresses are %s, in whatever clothes: %j', (kind, addresses) => {
  expect(addresses.map(addressKind)).toEqual(addresses.map(() => kind));
});

test('what is not an address is an error, and only names of this machine are loopback by name', () => {
  expect(() => addressKind('example.com')).toThrow(RangeError);
  const names = ['localhost', 'LOCALHOST.', 'a.localhost', '127.0.0.1', '[::1]', 'localhost.example.com', '10.0.0.1'];
  expect(names.filter(isLoopbackName)).toEqual(names.slice(0, 5));
});
