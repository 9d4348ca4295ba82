import { expect, test } from 'vitest';
import { maskAddress, secretsOfAddress } from './address-secrets.js';

test.each([
  ['a key in the path', 'https://mcp.example.com/api/s/aB3dE5fG7hI9/mcp', 'https://mcp.example.com/api/s/***/mcp'],
  ['a UUID in the path', 'https://x.com/0b1c2d3e-1111-4222-8333-444455556666/sse', 'https://x.com/***/sse'],
  ['an encoded key', 'https://x.com/aB3%64E5fG7hI9', 'https://x.com/***'],
  ['a password', 'https://ann:hunter22@x.com/', 'https://ann:***@x.com/'],
  ['a user that is a token', 'https://ghp_abc@x.com/', 'https://***@x.com/'],
  ['parameters', 'https://x.com/mcp?key=abc&v=1', 'https://x.com/mcp?key=***&v=***'],
  ['the fragment', 'wss://x.com/mcp#secret', 'wss://x.com/mcp#***'],
])('%s is masked', (_, address, shown) => {
  expect(maskAddress(address)).toBe(shown);
  for (const secret of secretsOfAddress(address)) expect(shown).not.toContain(secret);
});

test.each(['https://api.example.com/v1/mcp/servers', 'http://127.0.0.1:3000/mcp', 'no address', './file/aB3dE5fG7hI9'])(
  '%s stays as it is',
  (text) => {
    expect(maskAddress(text)).toBe(text);
    expect(secretsOfAddress(text)).toEqual([]);
  },
);
