import type * as z from 'zod';
import { HostError } from '../../domain/errors.js';

/** What a request says, as its schema has it. Throws `bad_input` with the field that is wrong; `where` names the rest. */
export function readRequest<Schema extends z.ZodType>(schema: Schema, value: unknown, where: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue === undefined || issue.path.length === 0 ? where : issue.path.join('.');
  throw new HostError('bad_input', `${field}: ${issue?.message ?? 'is not valid'}`);
}
