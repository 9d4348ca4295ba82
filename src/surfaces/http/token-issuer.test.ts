import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { byIssuer } from './token-issuer.js';

const AUDIENCE = 'codemode-api';
const first = generateKeyPairSync('rsa', { modulusLength: 2048 });
const second = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 });
let published: { key: KeyObject; kid: string; alg: string }[] = [{ key: first.publicKey, kid: 'one', alg: 'RS256' }];
let fetches = 0;
let issuer = '';

const server = createServer(async (request, response) => {
  if (request.url === '/.well-known/openid-configuration')
    return response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
  fetches += 1;
  const keys = await Promise.all(
    published.map(async ({ key, kid, alg }) => ({ ...(await exportJWK(key)), kid, alg, use: 'sig' })),
  );
  return response.end(JSON.stringify({ keys }));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const readCapabilities = (claim: unknown) => ({ mcp: { servers: claim as string[], maxCallsPerSecond: 5 } });
const identify = () => byIssuer({ issuer, audience: AUDIENCE, readCapabilities });

function token(claims: object = {}, header: object = {}, key: KeyObject = first.privateKey): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ iss: issuer, aud: AUDIENCE, sub: 'ann', exp: now + 60, scope: 'execute', ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'one', ...header })
    .sign(key);
}

test('a token of the issuer says who speaks, for what, and within which bounds', async () => {
  const identified = await identify()(await token({ scope: 'tools execute root', capabilities: ['files'] }));
  expect(identified).toEqual({
    principal: {
      subject: 'user ann',
      // With what clocks may differ by.
      expiresAtMs: expect.any(Number),
      scopes: new Set(['execute', 'tools']),
      capabilities: { mcp: { servers: ['files'], maxCallsPerSecond: 5 } },
    },
  });
});

test('no confusion of tokens gets through', async () => {
  const now = Math.floor(Date.now() / 1000);
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = { iss: issuer, aud: AUDIENCE, sub: 'ann', exp: now + 60, scope: 'approve' };
  const unsigned = `${encode({ alg: 'none' })}.${encode(body)}.`;
  const withPublicKey = `${encode({ alg: 'HS256', kid: 'one' })}.${encode(body)}`;
  const pem = first.publicKey.export({ type: 'spki', format: 'pem' });
  const hmac = `${withPublicKey}.${createHmac('sha256', pem).update(withPublicKey).digest('base64url')}`;
  const good = await token();
  const [head = '', , signature = ''] = good.split('.');
  const bad = {
    unsigned,
    hmac,
    altered: `${head}.${encode({ ...body, sub: 'root' })}.${signature}`,
    'of another key': await token({}, {}, foreign.privateKey),
    'of an unknown key': await token({}, { kid: 'nobody' }, foreign.privateKey),
    expired: await token({ exp: now - 120 }),
    'not yet valid': await token({ nbf: now + 600 }),
    'of another issuer': await token({ iss: 'https://evil.example' }),
    'for another audience': await token({ aud: 'other' }),
    'without an end': await token({ exp: undefined }),
    'without a subject': await token({ sub: undefined }),
    'with an empty subject': await token({ sub: '' }),
    'with its own key': await token({}, { jwk: await exportJWK(foreign.publicKey) }, foreign.privateKey),
    huge: `${head}.${'A'.repeat(20_000)}.${signature}`,
  };
  const check = identify();
  for (const [name, each] of Object.entries(bad))
    expect(await check(each), name).toEqual({ problem: expect.stringMatching(/^the token/) });
  expect(await check(await token({ exp: now - 10 }))).toHaveProperty('principal');
  expect(await check(good)).toHaveProperty('principal');
  expect(await check('not-a-jwt')).toBeUndefined();
});

test('keys are kept, and asked for again when one is new', async () => {
  const check = identify();
  await check(await token());
  const before = fetches;
  for (let round = 0; round < 5; round += 1) await check(await token());
  expect(fetches).toBe(before);
  published = [{ key: second.publicKey, kid: 'two', alg: 'ES256' }];
  // A key that is not known is not a reason to ask for keys with every request.
  vi.setSystemTime(Date.now() + 31_000);
  const rotated = await check(await token({}, { kid: 'two', alg: 'ES256' }, second.privateKey));
  vi.useRealTimers();
  expect(rotated).toHaveProperty('principal');
  expect(fetches).toBe(before + 1);
});

test('an unreachable issuer lets nobody in', async () => {
  const check = byIssuer({ issuer: 'http://127.0.0.1:9', audience: AUDIENCE, readCapabilities });
  await expect(check(await token())).rejects.toMatchObject({ code: 'issuer_unavailable' });
  await expect(check(await token())).rejects.toMatchObject({ code: 'issuer_unavailable' });
});

test.each(['metadata', 'keys'])('an issuer that sends %s without end is not read to its end', async (what) => {
  let sent = 0;
  const endless = createServer((request, response) => {
    if (what === 'keys' && request.url?.startsWith('/.well-known/openid') === true) {
      response.end(JSON.stringify({ issuer: own, jwks_uri: `${own}/keys` }));
      return;
    }
    const chunk = ' '.repeat(64 * 1024);
    const send = (): void => {
      while (!response.destroyed && sent < 200_000_000) {
        sent += chunk.length;
        if (!response.write(chunk)) return;
      }
    };
    response.on('drain', send);
    send();
  });
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
  const own = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
  try {
    const asked = byIssuer({ issuer: own, audience: AUDIENCE, readCapabilities })(await token({ iss: own }));
    await expect(asked).rejects.toMatchObject({ code: 'issuer_unavailable' });
    expect(sent).toBeLessThan(50_000_000);
  } finally {
    endless.closeAllConnections();
    endless.close();
  }
});
