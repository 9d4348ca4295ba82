import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import type { ScriptResponse } from '../../src/profiles/code-execution/render.js';
import { type CodemodeOptions, startCodemode } from './codemode-client.js';

/** The built program in profile `code_execution`, as an agent's client sees it. */
export async function startScripts(options: CodemodeOptions = {}) {
  const started = await startCodemode({ ...options, commandLine: ['--profile', 'code_execution'] });
  return {
    client: started.client,
    call: (request: Record<string, unknown>) => callScript(started.client, request),
    exec: async (code: string, more: Record<string, unknown> = {}) =>
      responseOf(await callScript(started.client, { code, ...more })),
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  };
}

export type Scripts = Awaited<ReturnType<typeof startScripts>>;

export async function callScript(client: Client, request: Record<string, unknown>): Promise<CallToolResult> {
  return (await client.callTool({ name: 'code_execution', arguments: request })) as CallToolResult;
}

/** Without what stands beside it, which has tests of its own. */
export function responseOf({ structuredContent }: CallToolResult): ScriptResponse {
  const { notes: _, ...response } = structuredContent as Record<string, unknown>;
  return response as unknown as ScriptResponse;
}

/** The server of the document's examples. */
export const GITHUB = {
  name: 'github',
  tools: [
    {
      name: 'get_user',
      description: 'Get a user.',
      inputSchema: { type: 'object', properties: { username: { type: 'string' } }, required: ['username'] },
      annotations: { readOnlyHint: true },
    },
    { name: 'list-repos', inputSchema: { type: 'object' } },
    { name: 'fail', inputSchema: { type: 'object' } },
  ],
  replies: {
    get_user: { content: [{ type: 'text', text: '{"login":"octocat","name":"The Octocat","public_repos":8}' }] },
    'list-repos': { content: [], structuredContent: { repos: ['a', 'b'] } },
    fail: { content: [{ type: 'text', text: 'no such repository' }], isError: true },
  },
} as const;
