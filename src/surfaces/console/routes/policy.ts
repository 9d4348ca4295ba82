import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import type { DraftRequest } from '../../../domain/console/policy.js';
import { readRequest } from '../../http/read-request.js';
import type { ConsoleContext } from '../console-options.js';

const draft = {
  rule: z
    .record(z.string(), z.json())
    .refine(({ tools }) => tools !== undefined && tools !== '' && JSON.stringify(tools) !== '[]', {
      error: 'name the tools that it is about; * means every tool',
    }),
  before: z.number().int().min(1).max(10_000).optional(),
};
const draftSchema = z.strictObject(draft);
const saveSchema = z.strictObject({ ...draft, fileDigest: z.string().min(1).max(100) });

/** Rules, and the draft of a rule: tried first, shown as a diff of the file, then saved. */
export function mountPolicy(scope: FastifyInstance, { options: { policy } }: ConsoleContext): void {
  const readDraft = (body: unknown) => readRequest(draftSchema, body, 'the body') as DraftRequest;
  scope.get('/policy', () => policy.view());
  scope.post('/policy/try', ({ body }) => policy.tryDraft(readDraft(body)));
  // The lines around a rule may contain text that only the file's owner should read.
  scope.post('/policy/diff', { config: { isOwnersOnly: true } }, ({ body }) => policy.diff(readDraft(body)));
  scope.post('/policy/save', { config: { isOwnersOnly: true } }, ({ body }) => {
    const { fileDigest, ...rest } = readRequest(saveSchema, body, 'the body');
    return policy.save(rest as DraftRequest, fileDigest);
  });
}
