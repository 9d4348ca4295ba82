import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { GO_ROOTS, SHARED_GO } from './go.js';
import { type ClientOptions, everyday, nodeServer, openHome, openStdio, until } from './program.js';
import { fixture } from './upstreams.js';

/** The servers of the document's example, its schemas as printed: `location` is required and not among the properties. */
const WEATHER = {
  name: 'weather',
  tools: [
    {
      name: 'get_weather',
      title: 'Weather Data Retriever',
      description: 'Get current weather data for a location',
      inputSchema: {
        type: 'object',
        properties: {
          city: { type: 'string', description: 'The name of the city to get weather for' },
          unit: {
            type: 'string',
            enum: ['celsius', 'fahrenheit'],
            description: 'Temperature unit for the weather response',
          },
        },
        required: ['location', 'unit'],
      },
      outputSchema: {
        type: 'object',
        properties: { temperature: { type: 'number', description: 'Temperature in celsius' } },
        required: ['temperature'],
      },
    },
    {
      name: 'get_city',
      title: 'City location retrieval',
      description: 'Get current city location',
      inputSchema: { type: 'object' },
      outputSchema: {
        type: 'object',
        properties: { city: { type: 'string', description: 'Current city location' } },
        required: ['city'],
      },
    },
    { name: 'get_forecast', inputSchema: { type: 'object' } },
  ],
  replies: {
    get_weather: { content: [], structuredContent: { temperature: 87 } },
    get_city: { content: [], structuredContent: { city: 'New York' } },
    get_forecast: { content: [{ type: 'text', text: 'sunny' }] },
  },
};

export interface GoHostOptions {
  readonly config?: object;
  readonly servers?: object;
  readonly words?: readonly string[];
  readonly client?: ClientOptions;
  readonly goPath?: string;
}

/** A home for `codemode mcp --profile go` with the servers `weather` and `everyday`. */
export function openGoHome({ config = {}, servers = {}, goPath }: GoHostOptions = {}) {
  const path = goPath ?? join(GO_ROOTS[0] ?? '', 'bin/go');
  const script = join(mkdtempSync(join(tmpdir(), 'codemode-go-e2e-')), 'weather.json');
  writeFileSync(script, JSON.stringify(WEATHER));
  const home = openHome({
    profile: 'go',
    go: { path, ...SHARED_GO.go },
    mcpServers: {
      weather: nodeServer(fixture('scripted-server.mjs'), script),
      everyday: everyday(),
      ...servers,
    },
    ...config,
  });
  return {
    ...home,
    [Symbol.dispose]: () => {
      rmSync(dirname(script), { recursive: true, force: true });
      home[Symbol.dispose]();
    },
  };
}

/** The built program in profile `go`, as an agent's client sees it. */
export async function startGo(options: GoHostOptions = {}) {
  const home = openGoHome(options);
  const program = await openStdio(home, 'legacy', options.client ?? {}, ['--profile', 'go', ...(options.words ?? [])]);
  const call = async (request: Record<string, unknown>) =>
    (await program.client.callTool({ name: 'execute_go_code', arguments: request })) as CallToolResult;
  return {
    home,
    ...program,
    call,
    /** What the program printed, and whether it ended. */
    run: async (code: string) => outputOf(await call({ code })),
    /** Until the servers have said their tools: on a busy machine one may take longer to start than a listing waits. */
    connected: () => until(async () => /getCity.*pid|pid.*getCity/s.test(await listed(program.client))),
    /** Until Go is ready here: the first time, it compiles its packages. */
    ready: () => until(async () => (await call({ code: 'fmt.Print("ready")' })).isError !== true),
    [Symbol.asyncDispose]: async () => {
      await program[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
}

export type GoProgramClient = Awaited<ReturnType<typeof startGo>>;

export function outputOf({ structuredContent, isError = false }: CallToolResult) {
  const { output } = structuredContent as { output: string };
  return { output, isError };
}

async function listed(client: Client): Promise<string> {
  const { tools } = await client.listTools();
  return tools.map(({ name, description = '' }) => `${description}\n${name}`).join('\n');
}

export async function description(client: Client): Promise<string> {
  const { tools } = await client.listTools();
  return tools.find(({ name }) => name === 'execute_go_code')?.description ?? '';
}
