import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { RunResponse } from '../../src/profiles/codemode/render.js';
import { SHARED_GO } from './go.js';
import { fixture } from './upstreams.js';

/** The built program as an agent's client sees it: `codemode mcp` on stdio, driven by the official client library. */

export const PROGRAM = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));

export interface ServerScript {
  readonly name?: string;
  readonly version?: string;
  readonly instructions?: string;
  readonly tools: readonly object[];
  readonly replies?: Readonly<Record<string, object>>;
}

/** Types of servers that came with an answer. They stand apart: most tests are about the other diagnostics. */
export interface WithTypes {
  readonly types: readonly { readonly code: string; readonly path?: string; readonly message: string }[];
}

/** A response with the types of servers apart from its other diagnostics. */
export function apart<Response extends { readonly diagnostics: readonly { code: string; message: string }[] }>(
  response: Response,
): Response & WithTypes {
  const isType = ({ code }: { code: string }) => code === 'SERVER_TYPES';
  const { diagnostics } = response;
  return { ...response, diagnostics: diagnostics.filter((each) => !isType(each)), types: diagnostics.filter(isType) };
}

export interface CodemodeClient extends AsyncDisposable {
  readonly client: Client;
  /** Runs a program and gives its response; throws if the outer call fails. */
  run(code: string, more?: Record<string, unknown>): Promise<RunResponse & WithTypes>;
  /** The result of a program that must come to its end without a diagnostic of severity error. */
  value(code: string, more?: Record<string, unknown>): Promise<unknown>;
}

export interface CodemodeOptions {
  /** Servers by id, each played by `scripted-server.mjs`. */
  readonly scripts?: Readonly<Record<string, ServerScript>>;
  /** More servers, as in the configuration. */
  readonly servers?: Readonly<Record<string, object>>;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly commandLine?: readonly string[];
}

/** Most tests are about what ran. What a model reads of it has tests of its own, with settings as they are shipped. */
export const WHOLE_ANSWERS = { response: { toolTrace: 'all', maxTokens: 60_000 }, prompt: { tokenBudget: 12_000 } };

/** A worker that waits for a program that does not come costs a third of a second of a core. Spares have tests of their own. */
export const NO_SPARES = { sandbox: { workers: { min: 0 } } };

export async function startCodemode({
  scripts = {},
  servers = {},
  config = {},
  commandLine = [],
}: CodemodeOptions): Promise<CodemodeClient> {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-test-'));
  const scripted = Object.entries(scripts).map(([id, script], index) => {
    const file = join(folder, `script-${index}.json`);
    writeFileSync(file, JSON.stringify(script));
    return [id, { command: process.execPath, args: [fixture('scripted-server.mjs'), file] }];
  });
  const configFile = join(folder, 'codemode.config.json');
  writeFileSync(
    configFile,
    JSON.stringify({
      ...NO_SPARES,
      ...SHARED_GO,
      ...WHOLE_ANSWERS,
      ...config,
      mcpServers: { ...Object.fromEntries(scripted), ...servers },
    }),
  );
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, '--config', configFile, 'mcp', ...commandLine],
    env: { PATH: process.env.PATH ?? '', HOME: folder, CODEMODE_HOME: join(folder, 'state'), CODEMODE_KEYRING: 'file' },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'codemode-test', version: '0' });
  await client.connect(transport);
  const run = async (code: string, more: Record<string, unknown> = {}): Promise<RunResponse & WithTypes> => {
    const result = await client.callTool({ name: 'codemode_run', arguments: { code, ...more } });
    return apart(result.structuredContent as unknown as RunResponse);
  };
  const value = async (code: string, more?: Record<string, unknown>): Promise<unknown> => {
    const { result, diagnostics } = await run(code, more);
    const failed = diagnostics.find(({ severity }) => severity === 'error');
    if (failed !== undefined) throw new Error(`${failed.code}: ${failed.message} (${failed.hint ?? 'no hint'})`);
    return result;
  };
  return {
    client,
    run,
    value,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
