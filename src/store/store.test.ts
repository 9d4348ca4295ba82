import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { needs } from '../../test/support/needs.js';
import { PATIENT, PostgresServer } from '../../test/support/postgres.js';
import { storeIn } from '../../test/support/store.js';
import { CallerQuotas, DEFAULT_QUOTAS } from '../domain/quotas.js';
import { approvalsSuite } from './approvals.suite.test-support.js';
import { openPostgresStore } from './postgres/store.js';
import { runsSuite } from './runs.suite.test-support.js';
import { sharedSuite } from './shared.suite.test-support.js';
import type { Store } from './store.js';

const folder = mkdtempSync(join(tmpdir(), 'codemode-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const QUOTAS = new CallerQuotas({ ...DEFAULT_QUOTAS, suspended: 2 * 1024 * 1024 });
const SUITES = { runs: runsSuite, approvals: approvalsSuite, 'everything else': sharedSuite };

describe.each(Object.entries(SUITES))('SQLite: %s', (name, suite) => {
  const store = storeIn(join(folder, name), QUOTAS);
  afterAll(() => store.close());
  suite(async () => store);
});

describe('Postgres', needs('postgresql'), () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.close());

  describe.each(Object.entries(SUITES))('%s', (name, suite) => {
    let store: Store;
    beforeAll(async () => {
      store = openPostgresStore({
        url: server.url(await server.createDatabase()),
        key: async () => new Uint8Array(32).fill(5),
        leaseMs: 5_000,
        quotas: QUOTAS,
        stateFolder: join(folder, `postgres ${name}`),
        ...PATIENT,
      });
    });
    afterAll(() => store.close());
    suite(async () => store);
  });
});
