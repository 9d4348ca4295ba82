import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { Api } from './api.js';

const folder = mkdtempSync(join(tmpdir(), 'codemode-openapi-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function open(document: JsonObject, write: (document: JsonObject) => string = JSON.stringify): Promise<Api> {
  const file = join(folder, 'document');
  writeFileSync(file, write(document));
  const target = { kind: 'openapi', document: file, baseUrl: 'http://127.0.0.1:1', headers: {} } as const;
  const times = { connectTimeoutMs: 60_000, callTimeoutMs: 1_000, retry: { maxAttempts: 1, delayMs: 0 } };
  return Api.open({ id: 'big', target, labels: [], isTrusted: false, ...times }, AbortSignal.timeout(60_000));
}

/** Of the size and shape of GitHub's: 1,200 operations, 900 schemas that refer to each other, 12 MB. */
function largeDocument(): JsonObject {
  const reference = (index: number): JsonObject => ({ $ref: `#/components/schemas/s${index % 900}` });
  const schemas = Object.fromEntries(
    Array.from({ length: 900 }, (_, index): [string, JsonValue] => [
      `s${index}`,
      {
        type: 'object',
        required: ['p0'],
        properties: Object.fromEntries(
          Array.from({ length: 40 }, (__, at): [string, JsonValue] => [
            `p${at}`,
            at % 10 === 9
              ? { type: 'array', items: reference(index * 7 + at) }
              : {
                  type: 'string',
                  nullable: true,
                  description: 'Something that stands here at some length. '.repeat(4),
                },
          ]),
        ),
      },
    ]),
  );
  const paths = Object.fromEntries(
    Array.from({ length: 600 }, (_, index): [string, JsonValue] => [
      `/repos/{owner}/things${index}`,
      {
        get: {
          operationId: `things/list-${index}`,
          parameters: [{ name: 'owner', in: 'path', required: true, schema: { type: 'string' } }],
          responses: { 200: { content: { 'application/json': { schema: reference(index) } } } },
        },
        post: {
          operationId: `things/create-${index}`,
          requestBody: { required: true, content: { 'application/json': { schema: reference(index + 300) } } },
          responses: { 201: { content: { 'application/json': { schema: reference(index) } } } },
        },
      },
    ]),
  );
  return { openapi: '3.0.3', info: { title: 'Big', version: '1' }, paths, components: { schemas } };
}

test('a document of 1,200 operations and 900 schemas is read whole, within bounds [C9]', async () => {
  const api = await open(largeDocument());
  const { tools, warnings } = api.list();
  expect({ tools: tools.length, warnings }).toEqual({ tools: 1_200, warnings: [] });
  expect(tools[1]).toMatchObject({ name: 'things_create-0', inputSchema: { required: ['owner', 'p0'] } });
  expect(tools.filter(({ outputSchema }) => outputSchema === undefined)).toEqual([]);
  expect(JSON.stringify(tools).length).toBeLessThan(30_000_000);
  await api.close();
});

test('YAML and JSON are the same document [C9]', async () => {
  const document = {
    openapi: '3.0.0',
    info: { title: 'x', version: '1' },
    paths: {
      '/a/{b}': { get: { responses: { 200: { content: { 'application/json': { schema: { type: 'array' } } } } } } },
    },
  };
  const [fromJson, fromYaml] = [await open(document), await open(document, (value) => stringify(value))];
  expect(fromYaml.list()).toEqual(fromJson.list());
  expect(fromYaml.list().tools[0]).toMatchObject({ name: 'get_a_by_b', outputSchema: { type: 'array' } });
});

test('a malformed operation is left out with a warning, and the others stay [C9]', async () => {
  const api = await open({
    openapi: '3.1.0',
    paths: {
      '/a': { get: { operationId: 'a' }, post: 'no' },
      b: { get: {} },
      '/c': null,
      'x-more': {},
      '/d': { put: {} },
    },
  });
  const { tools, warnings } = api.list();
  expect(tools.map(({ name }) => name)).toEqual(['a', 'put_d']);
  expect(warnings).toEqual([
    'POST "/a" is not an object and was left out',
    'path "b" does not begin with a slash and was left out',
    'path "/c" is not an object and was left out',
  ]);
});
