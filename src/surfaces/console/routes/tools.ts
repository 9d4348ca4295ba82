import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import type { ToolDetail, ToolItem, ToolPage, TryAnswer } from '../../../domain/console/tools.js';
import type { JsonObject, JsonValue } from '../../../domain/json.js';
import type { ToolReply } from '../../../domain/upstream.js';
import { cutText, cutValue } from '../../../host/admin/console/cut-value.js';
import type { FoundTool } from '../../../host/tools/inventory.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import { readRequest } from '../../http/read-request.js';
import type { ConsoleContext } from '../console-options.js';

const MAX_PAGE = 200;
const DESCRIPTION_CHARACTERS = 2_000;
const SCHEMA_CHARACTERS = 256 * 1024;
const RESULT_CHARACTERS = 1024 * 1024;

const querySchema = z.strictObject({
  server: z.string().max(200).optional(),
  query: z.string().max(4_000).optional(),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(100),
  cursor: z
    .string()
    .regex(/^\d{1,7}$/, 'is not valid; load the list from its beginning')
    .optional(),
});
const trySchema = z.strictObject({ arguments: z.record(z.string(), z.json()) });

interface OneTool {
  readonly Params: { readonly server: string; readonly tool: string };
}

/** Tools as agents find them, with the policy's decision, and a way to try one. */
export function mountTools(scope: FastifyInstance, { options }: ConsoleContext): void {
  const { inventory, playground, profile } = options;
  scope.get('/tools', ({ query }): ToolPage => {
    const { limit, cursor, ...rest } = readRequest(querySchema, query, 'the query');
    const asked = {
      ...omitUndefined({ query: rest.query, server: rest.server }),
    };
    const found = inventory.find(asked);
    const from = Number(cursor ?? 0);
    const next = from + limit;
    return {
      tools: found.slice(from, next).map((each) => itemOf(each)),
      total: found.length,
      ...(found.length > next ? { cursor: String(next) } : {}),
    };
  });
  scope.get<OneTool>('/tools/:server/:tool', async ({ params }): Promise<ToolDetail> => {
    const found = inventory.findOne(params.server, params.tool);
    const { tool } = found.tool;
    const { reason, rule, dependsOn, price, decision } = found.policy;
    const declared = inventory.declarationOf(found.tool);
    return {
      ...itemOf(found),
      declaration: cutText(declared.text, SCHEMA_CHARACTERS),
      inputSchema: shown(tool.inputSchema ?? {}),
      ...omitUndefined({ outputSchema: ifDefined(tool.outputSchema, shown) }),
      observed: tool.outputSchema === undefined ? await options.observedOf(tool) : [],
      annotations: { ...(tool.annotations ?? {}) } as JsonObject,
      policy: {
        ...{ decision, reason, rule: rule.text, dependsOn: dependsOn.map(({ text }) => text) },
        ...omitUndefined({ price }),
      },
    };
  });
  scope.post<OneTool>(
    '/tools/:server/:tool/try',
    { config: { isOwnersOnly: true } },
    async (request, reply): Promise<TryAnswer> => {
      const { arguments: input } = readRequest(trySchema, request.body, 'the body');
      const { tool } = inventory.findOne(request.params.server, request.params.tool);
      const { session } = await playground.open(profile);
      const gone = new AbortController();
      reply.raw.on('close', () => gone.abort());
      let approval: string | undefined;
      const stop = new AbortController();
      const startedAt = performance.now();
      const outcome = await session
        .callDirect({ tool }, input as JsonValue, {
          signal: AbortSignal.any([gone.signal, stop.signal]),
          // The call does not wait for a person: the approval is in the inbox, and a repeated call finds its decision.
          askPerson: async ([first]) => {
            approval = first?.id;
            stop.abort();
          },
        })
        .catch((error: unknown) => {
          if (approval === undefined) throw error;
          return undefined;
        });
      if (approval !== undefined) return { state: 'pending', approval };
      const durationMs = Math.round(performance.now() - startedAt);
      if (outcome === undefined || !outcome.ok) {
        const { message = 'it was not called', hint = '' } = outcome?.error ?? {};
        return { state: 'answered', ok: false, error: message, ...(hint === '' ? {} : { hint }), durationMs };
      }
      const { value, isCut } = cutValue(JSON.stringify(answerOf(outcome.reply)), RESULT_CHARACTERS);
      return { state: 'answered', ok: true, result: value, isCut, durationMs };
    },
  );
}

/** What a person looks for: the structured data if there is any, else the tool's content. */
function answerOf({ structuredContent, content }: ToolReply): JsonValue {
  return structuredContent ?? (content as unknown as JsonValue);
}

function itemOf({ tool, score, policy }: FoundTool): ToolItem {
  return {
    ...{
      serverId: tool.server.id,
      serverPath: tool.server.path,
      toolName: tool.tool.name,
      exportName: tool.exportName,
    },
    description: cutText(tool.tool.description ?? '', DESCRIPTION_CHARACTERS),
    decision: policy.decision,
    ...omitUndefined({ score }),
  };
}

function shown(schema: JsonValue): JsonValue {
  return cutValue(JSON.stringify(schema), SCHEMA_CHARACTERS).value;
}
