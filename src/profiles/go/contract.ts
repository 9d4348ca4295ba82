import * as z from 'zod';
import { HostError } from '../../domain/errors.js';
import { MAX_SOURCE_BYTES } from '../../domain/limits.js';
import { misnamedCode } from '../misnamed-code.js';

/** The contract allows unknown fields, and no other field could be meant by a misspelt one: unknown fields are ignored. */
const requestSchema = z.object({
  code: z
    .string('must be a string: Go code, the body of Run')
    .refine((code) => code.trim() !== '', 'is empty; give Go code, the body of Run')
    // Checked before anything scans the source.
    .refine(
      (code) => Buffer.byteLength(code) <= MAX_SOURCE_BYTES,
      `is larger than ${MAX_SOURCE_BYTES} bytes; pass data through tools, not through source`,
    ),
});

/** Parses a request. Throws `bad_input` with the field and what is wrong with it. */
export function parseGoRequest(input: unknown): { readonly code: string } {
  const parsed = requestSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  const misnamed = misnamedCode(input, ['code']);
  if (misnamed !== undefined) throw new HostError('bad_input', misnamed);
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join('.') ?? '';
  throw new HostError('bad_input', `${path === '' ? 'the request' : path}: ${issue?.message ?? 'is not valid'}`);
}
