import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { readRequest } from '../../http/read-request.js';
import type { ConsoleContext } from '../console-options.js';

const querySchema = z.strictObject({ days: z.coerce.number().int().min(1).max(90).default(30) });

/** What programs saved, how long tools take, and what fails. */
export function mountUsage(scope: FastifyInstance, { options }: ConsoleContext): void {
  scope.get('/usage', ({ query }) => options.usage(readRequest(querySchema, query, 'the query').days));
}
