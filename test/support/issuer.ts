import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, SignJWT } from 'jose';

const AUDIENCE = 'codemode-api';

/** Somebody who issues tokens, on loopback: metadata and one RSA key, named `one`. */
export async function openIssuer() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const server = createServer(async (request, response) => {
    if (request.url === '/.well-known/openid-configuration')
      return response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
    const key = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
    return response.end(JSON.stringify({ keys: [key] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const claims = () => ({
    iss: issuer,
    aud: AUDIENCE,
    sub: 'ann',
    exp: Math.floor(Date.now() / 1000) + 600,
    scope: 'execute',
  });
  return {
    publicKey,
    claims,
    /** As `security.auth` names it. */
    settings: { provider: 'oauth2', issuer, audience: AUDIENCE },
    token: (own: object = {}, header: object = {}, key: KeyObject = privateKey): Promise<string> =>
      new SignJWT({ ...claims(), ...own }).setProtectedHeader({ alg: 'RS256', kid: 'one', ...header }).sign(key),
    close: () => server.close(),
  };
}
