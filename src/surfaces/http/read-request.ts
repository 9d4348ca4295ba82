import type * as z from 'zod';
import { HostError } from '../../domain/errors.js';

/** Parses a request by its schema. Throws `bad_input` with the wrong field; `where` names the part of the request. */
export function readRequest<Schema extends z.ZodType>(schema: Schema, value: unknown, where: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue === undefined || issue.path.length === 0 ? where : issue.path.join('.');
  throw new HostError('bad_input', `${field}: ${issue?.message ?? 'is not valid'}`);
}
