import { Validator } from '@seriousme/openapi-schema-validator';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { configSchema } from '../../config/schema/schema.js';
import type { Host } from '../../host/host.js';
import { executeSettings } from '../../profiles/registry.js';
import { runnerSettings } from '../../profiles/runner/settings.js';
import { Gate } from '../http/gate.js';
import { openApiDocument } from './openapi.js';
import { RestApi } from './rest-api.js';
import type { RunnerRest } from './rest-context.js';
import { runnerPaths } from './runner.js';

const config = configSchema.parse({});
const settings = executeSettings(config);
/** With the routes of the contract `runner`, which are there where it is configured. */
const runner = { settings: runnerSettings(config) } as RunnerRest;
const document = openApiDocument(settings, '1.2.3', runnerPaths(runner));

test('the description of ourselves is valid OpenAPI 3.1 [C1]', async () => {
  const validator = new Validator();
  expect(await validator.validate(document)).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
  // It does find mistakes.
  expect(await new Validator().validate({ ...document, paths: { tools: {} } })).toMatchObject({ valid: false });
});

test('it has every route there is, and no other [C1]', async () => {
  const app = fastify();
  const routes: string[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) if (each !== 'HEAD') routes.push(`${each} ${url.replace(/:(\w+)/g, '{$1}')}`);
  });
  // Routes are mounted and none of them is asked for anything.
  const host = { approvals: {} } as unknown as Host;
  const sessionOptionsOf = () => expect.unreachable();
  const rest = new RestApi({
    ...{ host, runner, settings, sessionOptionsOf, version: '1.2.3', pingEveryMs: 1_000, log: () => {} },
    servers: { register: expect.unreachable, unregister: expect.unreachable, describe: () => undefined },
  });
  rest.mount(app, new Gate({ hosts: [], isOpenToNetwork: false, origins: [] }));
  await app.ready();
  await rest.close(0);
  const described = Object.entries(document.paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} /api/v1${path}`),
  );
  // Not a route of the framework: connections are taken over before one is looked for.
  expect([...routes, 'GET /api/v1/ws'].sort()).toEqual(described.sort());
  const ids = JSON.stringify(document).match(/"operationId":"\w+"/g) ?? [];
  expect(new Set(ids).size).toBe(ids.length);
});
