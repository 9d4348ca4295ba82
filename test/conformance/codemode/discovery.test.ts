import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CodemodeClient, startCodemode } from '../../support/codemode-client.js';

const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };

let codemode: CodemodeClient;
beforeAll(async () => {
  codemode = await startCodemode({
    scripts: {
      'Google Drive': {
        name: 'gdrive',
        version: '2.1.0',
        instructions: 'Files in the cloud.',
        tools: [
          {
            name: 'read_file',
            description: 'Reads a file from the drive.',
            inputSchema: schema,
            outputSchema: { type: 'object', properties: { text: { type: 'string' } } },
            annotations: { readOnlyHint: true },
          },
          {
            name: 'delete_file',
            description: 'Deletes a file for good.',
            inputSchema: schema,
            annotations: { destructiveHint: true },
          },
        ],
      },
      weather: {
        tools: [
          {
            name: 'get_forecast',
            description: 'Weather forecast for a city.',
            inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
          },
        ],
      },
    },
  });
});
afterAll(() => codemode[Symbol.asyncDispose]());

const ask = (expression: string) =>
  codemode.value(
    `import * as discovery from '@codemode/discovery'; globalThis.__codemode_result__ = await discovery.${expression};`,
  );
const refusal = (expression: string) =>
  codemode.value(`
    import * as discovery from '@codemode/discovery';
    try { globalThis.__codemode_result__ = ['no error', await discovery.${expression}] }
    catch (error) { globalThis.__codemode_result__ = [error.name, error.message, error.hint] }`);

describe('@codemode/discovery', () => {
  test('has a semver version [A15]', async () => {
    const version = await codemode.value(
      `import { specVersion } from '@codemode/discovery'; globalThis.__codemode_result__ = specVersion;`,
    );
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  test('lists and describes servers under their normalised names [A15, A20]', async () => {
    expect(await ask('listServers()')).toEqual([
      { serverId: 'google-drive', serverName: 'gdrive', capabilities: ['google-drive', 'mcp:google-drive'] },
      { serverId: 'weather', serverName: 'scripted', capabilities: ['weather', 'mcp:weather'] },
    ]);
    expect(await ask(`describeServer('google-drive')`)).toEqual({
      serverId: 'google-drive',
      serverName: 'gdrive',
      capabilities: ['google-drive', 'mcp:google-drive'],
      description: 'Files in the cloud.',
      version: '2.1.0',
    });
  });

  test('gives tools at three levels of detail, lower ones without the fields of higher ones [A16, A26]', async () => {
    expect(await ask(`listTools('google-drive', { detail: 'name' })`)).toEqual([
      { toolName: 'read_file', exportName: 'read_file' },
      { toolName: 'delete_file', exportName: 'delete_file' },
    ]);
    const described = [
      {
        toolName: 'read_file',
        exportName: 'read_file',
        signature: 'read_file({ path: string }): { text?: string }',
        description: 'Reads a file from the drive.',
        annotations: { readOnlyHint: true },
      },
      {
        toolName: 'delete_file',
        exportName: 'delete_file',
        signature: 'delete_file({ path: string }) @asks',
        asks: true,
        description: 'Deletes a file for good.',
        annotations: { destructiveHint: true },
      },
    ];
    expect(await ask(`listTools('google-drive')`)).toEqual(described);
    expect(await ask(`listTools('google-drive', { detail: 'description' })`)).toEqual(described);
    expect(await ask(`listTools('google-drive', { detail: 'full' })`)).toEqual([
      {
        ...described[0],
        inputSchema: schema,
        outputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      },
      { ...described[1], inputSchema: schema },
    ]);
  });

  test('gives one tool whole [A15]', async () => {
    expect(await ask(`getTool('google-drive', 'delete_file')`)).toEqual({
      toolName: 'delete_file',
      exportName: 'delete_file',
      signature: 'delete_file({ path: string }) @asks',
      asks: true,
      description: 'Deletes a file for good.',
      annotations: { destructiveHint: true },
      inputSchema: schema,
    });
  });

  test.each([
    ['describeServer()', 'describeServer: serverId must be a string, not nothing'],
    ["getTool('google-drive')", 'getTool: toolName must be a string, not nothing'],
    ["getTypes('google-drive', [1])", 'getTypes: toolName must be a string, not 1'],
  ])('names the function whose argument is wrong: %s [A15]', async (call, message) => {
    expect(await refusal(call)).toMatchObject(['SchemaValidationError', message, expect.any(String)]);
  });

  test('finds tools by what they do, ranked, each with its server [A17]', async () => {
    const found = (await ask(`searchTools('what will the weather be in Paris')`)) as {
      query: string;
      results: { serverId: string; toolName: string }[];
    };
    expect(found.query).toBe('what will the weather be in Paris');
    expect(found.results[0]).toEqual({
      serverId: 'weather',
      toolName: 'get_forecast',
      exportName: 'get_forecast',
      signature: 'get_forecast({ city?: string })',
      description: 'Weather forecast for a city.',
    });
  });

  test('searches one server, so many hits, in so much detail [A17]', async () => {
    expect(await ask(`searchTools('file', { serverId: 'google-drive', limit: 1, detail: 'name' })`)).toEqual({
      query: 'file',
      results: [
        {
          serverId: 'google-drive',
          toolName: expect.stringContaining('file'),
          exportName: expect.stringContaining('file'),
        },
      ],
    });
    expect(await ask(`searchTools('file', { serverId: 'weather' })`)).toEqual({ query: 'file', results: [] });
  });

  test.each([
    [`describeServer('google-drve')`, 'ServerNotFoundError', 'google-drive'],
    [`listTools('nowhere-at-all')`, 'ServerNotFoundError', 'weather'],
    [`getTool('weather', 'get_forcast')`, 'ToolNotFoundError', 'get_forecast'],
    [`listTools('weather', { detail: 'everything' })`, 'SchemaValidationError', '"full"'],
    [`searchTools('x', { limit: -1 })`, 'SchemaValidationError', 'whole number'],
    [`searchTools('x', { limit: 1.5 })`, 'SchemaValidationError', 'whole number'],
    [`searchTools(7)`, 'SchemaValidationError', 'a string'],
    [`listTools()`, 'SchemaValidationError', 'a string'],
    [`listTools('weather', 'full')`, 'SchemaValidationError', 'an object'],
  ])('%s is refused as a %s with one corrective action [A28, A29]', async (expression, name, hint) => {
    const [actual, , given] = (await refusal(expression)) as string[];
    expect(actual).toBe(name);
    expect(given).toContain(hint);
  });
});
