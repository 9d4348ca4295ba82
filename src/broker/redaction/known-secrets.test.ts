import { expect, test } from 'vitest';
import type { UpstreamTarget } from '../../domain/targets/targets.js';
import type { UpstreamDefinition } from '../../domain/upstream.js';
import { secretsIn } from '../../lib/secrets/secret-values.js';
import { credentialsOf } from './known-secrets.js';

const of = (target: UpstreamTarget) => credentialsOf({ target } as UpstreamDefinition);

test('the credentials of a local server are found in its environment and its arguments [B17]', () => {
  const environment = {
    API_TOKEN: 'hunter2-hunter2',
    DATABASE_URL: 'postgres://user:pa%24%24w0rd@localhost:5432/production',
    SENTRY: '9f86d081884c7d659a2feaa0c55ad015',
  };
  const words = ['server.js', '--api-key', 'abcd-efgh-ijkl', '--password=tr0ub4dor', '--port', '3000'];
  expect(of({ kind: 'stdio', command: 'node', arguments: words, environment })).toEqual([
    'hunter2-hunter2',
    'pa%24%24w0rd',
    'pa$$w0rd',
    '9f86d081884c7d659a2feaa0c55ad015',
    'abcd-efgh-ijkl',
    'tr0ub4dor',
  ]);
});

test('those of a remote one are found in its headers and its address, without the scheme [B17]', () => {
  const headers = {
    Authorization: 'Bearer tok-0123456789',
    'Proxy-Authorization': `Basic ${Buffer.from('me:open sesame').toString('base64')}`,
    'X-Api-Key': 'another-key',
    Accept: 'application/json, text/event-stream',
  };
  const url = 'https://me:passw0rd@example.com/mcp/T00AbCdEfGh1234567890x?key=q-1234567890&page=12&region=eu-central-1';
  expect(of({ kind: 'http', url, headers, flavour: 'auto' })).toEqual([
    'tok-0123456789',
    Buffer.from('me:open sesame').toString('base64'),
    'open sesame',
    'another-key',
    'passw0rd',
    'q-1234567890',
    'T00AbCdEfGh1234567890x',
  ]);
});

test.each([
  ['NODE_ENV', 'production'],
  ['DEBUG', 'true'],
  ['API_KEY', 'short'],
  ['DB_PASSWORD', 'password'],
  ['SESSION_TTL', '86400000'],
  ['AUTH_URL', 'https://auth.example.com/oauth/token'],
  ['TOKEN_FILE', '/run/secrets/token'],
  ['SSH_KEY_PATH', '~/.ssh/id_ed25519'],
  ['AUTH_TYPE', 'client_credentials'],
  ['HOST', 'db-primary-01.internal.example.com'],
  ['TENANT', 'f47ac10b-58cc-4372-a567-0e02b2c3d479'],
  ['GREETING', 'Good morning to everybody in room 101'],
  ['KEY_MASK', '********'],
])('%s=%s is not a secret: it would be redacted in ordinary data', (name, value) => {
  expect(secretsIn(name, value)).toEqual([]);
});

test('a header among the arguments of a local server is a credential', () => {
  const words = ['mcp-remote', 'https://h/mcp', '--header', 'Authorization: Bearer hunter2-hunter2'];
  expect(of({ kind: 'stdio', command: 'npx', arguments: words, environment: {} })).toEqual(['hunter2-hunter2']);
});

test('a variable passed on to a local server is a credential where its name says so', () => {
  const inherited = {
    GITHUB_TOKEN: 'ghp-hunter2-hunter2',
    AWS_REGION: 'eu-central-1',
    KUBECONFIG: '/home/me/.kube/config',
  };
  expect(of({ kind: 'stdio', command: 'node', arguments: [], environment: {}, inherited })).toEqual([
    'ghp-hunter2-hunter2',
  ]);
});

test.each([
  ['SMTP_PASS', 'open sesame now'],
  ['DB_PWD', 'correcthorse'],
  ['PASSPHRASE', 'correct horse battery staple'],
  ['SERVICE_CREDS', 'alice:wonderland'],
  ['MNEMONIC', 'abandon ability able about above absent'],
  ['FOO', 'tr0ub4dor&3'],
  ['FOO', 'Zx81-Spectrum!'],
  ['FOO', 'qzxkvjwpfhgmtrbnqzxkvjwp'],
  ['X-Custom', 'hunter2-hunter2'],
  ['FOO', '/wJalrXUtnFEMI0K7MDENGbPxRfiCYEXAMPLEKEY'],
])('%s=%s is held: it is not plainly something else', (name, value) => {
  const environment = { [name]: value };
  expect(of({ kind: 'stdio', command: 'node', arguments: [], environment })).toEqual([value]);
  expect(of({ kind: 'stdio', command: 'node', arguments: [], environment: {}, inherited: environment })).toEqual([
    value,
  ]);
  expect(of({ kind: 'http', url: 'https://h/mcp', headers: environment, flavour: 'auto' })).toEqual([value]);
});

test.each([
  ['NODE_ENV', 'production'],
  ['LANG', 'en_US.UTF-8'],
  ['FOO', 'en_US.UTF-8'],
  ['FOO', '/usr/bin:/usr/local/bin'],
  ['FOO', '/home/me/My Documents'],
  ['FOO', 'https://api.example.com'],
  ['FOO', 'https://api.example.com/v1/things?page=2&sort=descending'],
  ['LOG_LEVEL', 'debug'],
  ['FOO', 'node'],
  ['FOO', 'development'],
  ['FOO', 'eu-central-1'],
  ['OPENAI_MODEL', 'gpt-4o-mini'],
  ['FOO', '@modelcontextprotocol/server-github'],
  ['FOO', 'server-filesystem@1.2.3'],
  ['FOO', 'localhost:8080'],
  ['FOO', 'db-primary-01.internal.example.com'],
  ['FOO', '2024-01-31T12:00:00Z'],
  ['FOO', '192.168.100.200'],
  ['FOO', '123456789012'],
  ['FOO', 'true,false,true'],
  ['FOO', 'Europe/Berlin'],
  ['FOO', 'someone@example.com'],
  ['FOO', 'My Application'],
  ['FOO', 'MyApplication'],
  ['FOO', 'f47ac10b-58cc-4372-a567-0e02b2c3d479'],
  ['NODE_OPTIONS', '--no-warnings'],
  ['Accept', 'application/json, text/event-stream;q=0.9'],
  ['User-Agent', 'codemode/1.0.0 (linux; x64)'],
  ['Content-Type', 'application/vnd.api+json'],
])('%s=%s is plainly no secret, and stays in results', (name, value) => {
  expect(of({ kind: 'stdio', command: 'node', arguments: [], environment: { [name]: value } })).toEqual([]);
});

test('the password of a connection string is held, and the rest of it is not', () => {
  const text = 'Server=tcp:db.example.com,1433;User Id=sa;Password=tr0ub4dor&3;Encrypt=true';
  for (const words of [[`--conn=${text}`], ['--conn', text], [text]])
    expect(of({ kind: 'stdio', command: 'node', arguments: words, environment: {} })).toEqual(['tr0ub4dor&3']);
  expect(of({ kind: 'stdio', command: 'node', arguments: [], environment: { DB: text } })).toEqual(['tr0ub4dor&3']);
  const libpq = { DB: 'host=db user=me password=correcthorse' };
  expect(of({ kind: 'stdio', command: 'node', arguments: [], environment: libpq })).toEqual(['correcthorse']);
});

test('arguments are held by their names, and words of a command line are not', () => {
  const words = ['--passphrase', 'correcthorse', '--db-pass=batterystaple', '--compass', 'northwest', 'Zx81-Spectrum'];
  expect(of({ kind: 'stdio', command: 'node', arguments: words, environment: {} })).toEqual([
    'correcthorse',
    'batterystaple',
  ]);
});

test('a token in front of a host, and the values of a query, are held', () => {
  const environment = { A: 'https://t0ken-t0ken@example.com/x', B: 'https://example.com/?x=t0ken-t1ken&page=12' };
  expect(of({ kind: 'stdio', command: 'node', arguments: [], environment })).toEqual(['t0ken-t0ken', 't0ken-t1ken']);
});
