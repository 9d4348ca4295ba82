import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { RunResponse } from '../../src/profiles/codemode/render.js';
import { PROGRAM } from './cli.js';
import type { LedgerHome } from './ledger.js';

/** What a client is asked to show to its user. */
export interface Form {
  readonly message: string;
  readonly requestedSchema: { readonly properties: { readonly decision: { readonly enum: readonly string[] } } };
}

export type Answerer = (form: Form) => object | Promise<object>;

/** `codemode mcp` and a client with a user who answers forms, or without one. */
export async function connectForms(home: LedgerHome, answer?: Answerer, era: 'legacy' | 'modern' = 'legacy') {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, '--config', home.config, 'mcp'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home.folder,
      CODEMODE_HOME: home.path('state'),
      CODEMODE_KEYRING: 'file',
    },
    stderr: 'ignore',
  });
  const client = new Client(
    { name: 'test client', version: '0' },
    {
      capabilities: answer === undefined ? {} : { elicitation: {} },
      versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
    },
  );
  const questions: Form[] = [];
  if (answer !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      questions.push(params as unknown as Form);
      return (await answer(params as unknown as Form)) as never;
    });
  await client.connect(transport);
  return {
    questions,
    client,
    run: async (code: string, limits: Record<string, number> = {}) => {
      const { structuredContent } = await client.callTool({ name: 'codemode_run', arguments: { code, limits } });
      return structuredContent as unknown as RunResponse;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
