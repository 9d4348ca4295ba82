import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/store/postgres/database/migrations.js';
import { needs } from '../support/needs.js';
import { PostgresServer } from '../support/postgres.js';
import { type Home, openHome, runProgram } from '../support/program.js';

const KEY = Buffer.alloc(32, 1).toString('base64');
const OTHER_KEY = Buffer.alloc(32, 2).toString('base64');
const CHECK = 'then check it with: codemode doctor';
const CORRECT = `correct the address in \`store\` or CODEMODE_STORE, ${CHECK}`;

describe('a database that cannot be used is named, with what to type', needs('postgresql'), () => {
  let server: PostgresServer;
  let home: Home;
  let certificates: string;
  beforeAll(async () => {
    certificates = mkdtempSync(join(tmpdir(), 'codemode-tls-'));
    const certificate = makeCertificate(certificates);
    server = await PostgresServer.start({
      settings: {
        ssl: 'on',
        ssl_cert_file: certificate.cert,
        ssl_key_file: certificate.key,
        ssl_ca_file: certificate.cert,
      },
      access: [
        'local all all trust',
        'host all codemode,missing,parked all trust',
        'host all app all scram-sha-256',
        'hostssl all certified all cert',
      ],
    });
    await server.administer(
      `CREATE ROLE app LOGIN PASSWORD 'right'`,
      'CREATE ROLE old LOGIN',
      'CREATE ROLE parked',
      'CREATE ROLE certified LOGIN',
      'CREATE ROLE stranger LOGIN',
    );
    home = openHome({});
  }, 60_000);
  afterAll(async () => {
    await server.close();
    home[Symbol.dispose]();
    rmSync(certificates, { recursive: true, force: true });
  });

  const address = (user: string, database: string, more = '?sslmode=disable') =>
    `postgres://${user}@127.0.0.1:${server.port}/${database}${more}`;
  /** What a command says, and its exit status. */
  const say = async (store: string, words = ['store'], key: string | undefined = KEY) => {
    const environment = { ...home.environment, CODEMODE_STORE: store, ...(key === '' ? {} : { CODEMODE_KEY: key }) };
    const { stdout, stderr, status } = await runProgram({ ...home, environment } as Home, ...words);
    return { status, said: stderr.trim(), stdout };
  };

  test('addresses, passwords and names', async () => {
    const at = `127.0.0.1:${server.port}`;
    const closed = await server.createDatabase();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const web = other.address() as AddressInfo;
    await server.administer(`REVOKE ALL ON DATABASE ${closed} FROM PUBLIC`);
    const cases = [
      [
        'postgres://app@127.0.0.1:1/x',
        69,
        `no database answers at 127.0.0.1:1/x (connection refused); start PostgreSQL, or correct the address in \`store\`; ${CHECK}`,
      ],
      [
        `postgres://app@127.0.0.1:${web.port}/x`,
        69,
        `nothing at 127.0.0.1:${web.port}/x answers as PostgreSQL does (Connection terminated unexpectedly); ` +
          'correct the address in `store`, or look for a firewall between this host and the database',
      ],
      [address('app:wrong', 'postgres'), 2, `the database ${at}/postgres refused the password of app; ${CORRECT}`],
      [address('app', 'postgres'), 2, `the database ${at}/postgres asks for a password; ${CORRECT}`],
      [
        address('stranger', 'postgres'),
        2,
        `the database ${at}/postgres does not let stranger in (no pg_hba.conf entry for host "127.0.0.1", user "stranger", database "postgres", no encryption); ` +
          'add a line for it to pg_hba.conf, or correct the address in `store`; then: codemode doctor',
      ],
      [
        address('missing', 'postgres'),
        2,
        `the database ${at}/postgres does not let missing in (role "missing" does not exist); ` +
          `create it with: createuser -h 127.0.0.1 -p ${server.port} missing`,
      ],
      [
        address('parked', 'postgres'),
        2,
        `the database ${at}/postgres does not let parked in (role "parked" is not permitted to log in); ` +
          'let it, as an administrator: ALTER ROLE parked LOGIN',
      ],
      [
        address('app:right', closed),
        2,
        `the database ${at}/${closed} does not let app in (permission denied for database "${closed}"); ` +
          `let the owner of the database grant it: GRANT CONNECT ON DATABASE ${closed} TO app`,
      ],
      [
        address('codemode', 'nowhere'),
        2,
        `there is no database nowhere at 127.0.0.1; create it with: createdb -h 127.0.0.1 -p ${server.port} nowhere`,
      ],
      [
        address('codemode', 'x', '?sslmode=prefer'),
        2,
        'store: the address of the database cannot be used: sslmode=prefer would accept a server that nobody verified; use verify-full ' +
          '(with sslrootcert=FILE for an authority of your own), verify-ca, or disable. Write it as postgres://user:password@host:5432/database',
      ],
    ] as const;
    const answers = await Promise.all(cases.map(([store]) => say(store)));
    other.close();
    expect(answers.map(({ status, said }) => [status, said])).toEqual(
      cases.map(([, status, said]) => [status, `codemode: ${said}`]),
    );
  }, 60_000);

  test('a certificate is verified, by name and by authority, unless the address says otherwise', async () => {
    const name = await server.createDatabase();
    const tls = (host: string, more: string, user = 'codemode') =>
      `postgres://${user}@${host}:${server.port}/${name}?${more}`;
    const authority = `sslrootcert=${join(certificates, 'server.crt')}`;
    const [unknown, otherName, verified, unproven] = await Promise.all([
      say(tls('127.0.0.1', 'sslmode=verify-full')),
      say(tls('127.0.0.1', `sslmode=verify-full&${authority}`)),
      say(tls('localhost', authority)),
      say(tls('localhost', authority, 'certified')),
    ]);
    expect([unknown.status, unknown.said]).toEqual([
      2,
      `codemode: the certificate of the database 127.0.0.1:${server.port}/${name} is not trusted (self-signed certificate); ` +
        'name the authority that signed it: add sslrootcert=FILE to the address, then: codemode doctor',
    ]);
    expect([otherName.status, otherName.said]).toEqual([2, expect.stringContaining('is not trusted')]);
    expect([verified.status, verified.said]).toEqual([0, '']);
    expect(verified.stdout).toContain(', TLS');
    expect([unproven.status, unproven.said]).toEqual([
      2,
      `codemode: the database localhost:${server.port}/${name} does not let certified in (connection requires a valid client certificate); ` +
        'give this host one that it accepts: add sslcert=FILE and sslkey=FILE to the address, then: codemode doctor',
    ]);
  }, 60_000);

  test('versions, rights and schemas', async () => {
    const [rights, newer, foreign, replica, ancient] = await Promise.all(
      [1, 2, 3, 4, 5].map(() => server.createDatabase()),
    );
    await inDatabase(newer, 'codemode', 'store', 'migrate');
    await statements(
      server,
      newer,
      `INSERT INTO codemode.migrations (number, name, works_with) VALUES (99, 'later', 99)`,
    );
    await statements(server, foreign, 'CREATE SCHEMA codemode', 'CREATE TABLE codemode.parts (n int)');
    await server.administer(`ALTER DATABASE ${replica} SET default_transaction_read_only = on`);
    // What a server of that version says of itself. There is none here that is so old.
    await statements(
      server,
      ancient,
      'CREATE SCHEMA past',
      'GRANT USAGE ON SCHEMA past TO old',
      `CREATE FUNCTION past.current_setting(text) RETURNS text LANGUAGE sql AS
        $$ SELECT CASE $1 WHEN 'server_version_num' THEN '120022' ELSE '12.22' END $$`,
      `ALTER ROLE old IN DATABASE ${ancient} SET search_path = past, pg_catalog`,
    );
    const at = (database: string | undefined) => `127.0.0.1:${server.port}/${database}`;
    const cases = [
      [
        address('app:right', rights ?? ''),
        `app lacks a right in the database ${at(rights)} (permission denied for database ${rights}); ` +
          'let the owner of the schema migrate and grant it: codemode store migrate --grant app',
      ],
      [
        address('codemode', newer ?? ''),
        `the database was migrated by a newer codemode (schema 99; this one knows ${MIGRATIONS.length}); upgrade this host: npm install -g codemode@latest`,
      ],
      [
        address('codemode', foreign ?? ''),
        'the database already has a schema "codemode" that belongs to something else; set `store` to a database of its own: createdb codemode',
      ],
      [
        address('codemode', replica ?? ''),
        `the database ${at(replica)} is read-only: it is a replica; set \`store\` to the address of the primary, then: codemode doctor`,
      ],
      [
        server.url(ancient ?? '', { user: 'old' }),
        'the database is PostgreSQL 12.22; codemode needs 13 or newer: upgrade it',
      ],
    ] as const;
    const answers = await Promise.all(cases.map(([store]) => say(store, ['runs'])));
    expect(answers.map(({ status, said }) => [status, said])).toEqual(
      cases.map(([, said]) => [2, `codemode: ${said}`]),
    );
    // Nor may the operator take it for a database of hosts.
    expect((await say(server.url(ancient ?? '', { user: 'old' }))).said).toContain('codemode needs 13 or newer');
    // As the message says.
    expect(await inDatabase(rights, 'codemode', 'store', 'migrate', '--grant', 'app')).toMatchObject({
      status: 0,
      stdout: `the schema is at version ${MIGRATIONS.length}; app may read and write its rows\n`,
    });
    expect(await say(address('app:right', rights ?? ''), ['runs'])).toMatchObject({
      status: 0,
      said: 'no runs have been recorded yet',
    });
  }, 60_000);

  test('keys', async () => {
    const name = await server.createDatabase();
    const store = address('codemode', name);
    expect((await say(store, ['runs'])).status).toBe(0);
    const make = 'make one with: openssl rand -base64 32';
    const [none, short, other] = await Promise.all([
      say(store, ['runs'], ''),
      say(store, ['runs'], 'c2hvcnQ='),
      say(store, ['runs'], OTHER_KEY),
    ]);
    expect([none, short, other].map(({ status, said }) => [status, said])).toEqual([
      [
        2,
        `codemode: hosts that share a \`store\` need the same key, and this one was given none: set CODEMODE_KEY or security.keyFile; ${make}`,
      ],
      [2, `codemode: CODEMODE_KEY is not 32 bytes in base64; ${make}`],
      [
        2,
        'codemode: this host was given another key than the hosts that share the database; set CODEMODE_KEY (or security.keyFile) to theirs. ' +
          'If that key is lost, what it sealed is lost too: start with an empty database',
      ],
    ]);
  }, 60_000);

  test('the doctor says how the database does, or why it cannot be used', async () => {
    const name = await server.createDatabase();
    const findings = async (store: string, key = KEY) => {
      const { stdout } = await say(store, ['doctor', '--json'], key);
      const { findings: all } = JSON.parse(stdout) as { findings: { name: string; message: string }[] };
      return all.filter((finding) => finding.name === 'Database');
    };
    await inDatabase(name, 'codemode', 'store', 'migrate');
    // A database that is slow because of other tests has a warning beside it.
    expect(await findings(address('codemode', name))).toContainEqual({
      name: 'Database',
      state: 'ok',
      message: expect.stringMatching(`schema ${MIGRATIONS.length}, \\d hosts? up, \\d+ of 60 connections in use`),
    });
    expect((await say(address('codemode', name), ['runs'])).status).toBe(0);
    expect(await findings(address('codemode', name), OTHER_KEY)).toContainEqual({
      name: 'Database',
      state: 'missing',
      message: expect.stringContaining('another key than the hosts'),
    });
    expect(await findings(address('app:wrong', name))).toContainEqual({
      name: 'Database',
      state: 'missing',
      message: expect.stringContaining('refused the password of app'),
    });
  }, 60_000);

  function inDatabase(name: string | undefined, user: string, ...words: string[]) {
    return say(address(user, name ?? ''), words);
  }
});

async function statements(server: PostgresServer, database: string | undefined, ...texts: readonly string[]) {
  const { Postgres } = await import('../../src/store/postgres/database/connection.js');
  const postgres = await Postgres.open({ url: server.url(database ?? '') });
  try {
    for (const text of texts) await postgres.query(text);
  } finally {
    await postgres.close();
  }
}

/** Signed by itself, for `localhost`. PostgreSQL reads a key only if nobody else can. */
function makeCertificate(folder: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
    ].concat(['-addext', 'subjectAltName=DNS:localhost', '-out', cert, '-keyout', key]),
    { stdio: 'ignore' },
  );
  if (process.getuid?.() === 0) {
    const { uid, gid } = statSync('/var/lib/postgresql');
    for (const path of [folder, cert, key]) chownSync(path, uid, gid);
  }
  return { cert, key };
}
