import type { JsonObject, JsonValue } from './domain/json.js';
import { omitUndefined } from './lib/omit-undefined.js';
import type { CodemodeHost, CodemodeSession } from './surfaces/library/codemode-host.js';
import type { RunOptions } from './surfaces/library/run.js';

/** The symbol by which the AI SDK recognizes its own schemas. */
const SCHEMA = Symbol.for('vercel.ai.schema');

const INPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: { code: { type: 'string', description: 'The program, in TypeScript or JavaScript.' } },
  required: ['code'],
  additionalProperties: false,
};

/** What the model receives. */
export interface AiSdkAnswer {
  readonly result: JsonValue;
  readonly logs: readonly string[];
  readonly diagnostics: readonly object[];
}

/** A tool in the form that `generateText` and `streamText` of the AI SDK (5 and 6) accept. */
export interface AiSdkTool {
  /** How to write programs, and the tools available now. Computed at each access. */
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  execute(
    input: { readonly code: string },
    options?: { readonly abortSignal?: AbortSignal | undefined },
  ): Promise<AiSdkAnswer>;
}

interface AiSdkSchema {
  readonly [SCHEMA]: true;
  readonly _type: { readonly code: string };
  readonly jsonSchema: JsonObject;
  readonly validate: (
    value: unknown,
  ) =>
    | { readonly success: true; readonly value: { readonly code: string } }
    | { readonly success: false; readonly error: Error };
}

/** One tool for a model of the Vercel AI SDK: it writes programs, and this host runs them. */
export function toAiSdkTool(
  host: Pick<CodemodeHost | CodemodeSession, 'prompt' | 'run'>,
  options: Omit<RunOptions, 'signal'> = {},
): AiSdkTool {
  return {
    get description() {
      return host.prompt();
    },
    inputSchema: { [SCHEMA]: true, jsonSchema: INPUT_SCHEMA, validate } as unknown as AiSdkSchema,
    execute: async ({ code }, { abortSignal } = {}) => {
      const signal = omitUndefined({ signal: abortSignal });
      const { result, logs, diagnostics } = await host.run(code, { ...options, ...signal });
      return { result, logs: logs.map(({ message }) => message), diagnostics };
    },
  };
}

const validate: AiSdkSchema['validate'] = (value) => {
  const code = (value as { code?: unknown } | null)?.code;
  return typeof code === 'string'
    ? { success: true, value: { code } }
    : { success: false, error: new Error('expected { code: string }') };
};
