import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { readRequest } from '../../http/read-request.js';
import type { ConsoleContext } from '../console-options.js';

const MAX_NAME = 200;
const MAX_INPUTS = 32;
const keepSchema = z.strictObject({
  name: z.string().min(1).max(MAX_NAME),
  description: z.string().max(2_000).default(''),
  inputs: z
    .array(
      z.strictObject({ name: z.string().max(MAX_NAME), value: z.union([z.string().max(1024 * 1024), z.number()]) }),
    )
    .max(MAX_INPUTS)
    .default([]),
});
const keepRequest = keepSchema.extend({ replaces: z.boolean().default(false) });
const undoSchema = z.strictObject({ calls: z.array(z.number().int().nonnegative()).max(100_000) });

interface OneRun {
  readonly Params: { readonly id: string };
}

/** Keeps runs as tools, lists kept programs, and undoes runs. */
export function mountScripts(scope: FastifyInstance, { options }: ConsoleContext): void {
  const { kept, undo } = options;
  const owners = { config: { isOwnersOnly: true } };
  scope.get('/scripts', async () => ({ scripts: await kept.list() }));
  scope.get<{ Params: { name: string } }>('/scripts/:name', ({ params: { name } }) => kept.detail(name));
  scope.post<OneRun>('/runs/:id/keep/preview', owners, ({ params: { id }, body }) =>
    kept.preview(id, readRequest(keepSchema, body, 'the body')),
  );
  scope.post<OneRun>('/runs/:id/keep', owners, ({ params: { id }, body }) => {
    const { replaces, ...wish } = readRequest(keepRequest, body, 'the body');
    return kept.keep(id, wish, replaces);
  });
  scope.get<OneRun>('/runs/:id/undo', owners, ({ params: { id } }) => undo.plan(id));
  scope.post<OneRun>('/runs/:id/undo', owners, ({ params: { id }, body }) => {
    const { calls } = readRequest(undoSchema, body, 'the body');
    // Closing the page does not stop it between two calls: everything that was shown is undone.
    return undo.undo(id, calls, new AbortController().signal);
  });
}
