import * as z from 'zod';

const amount = z.number().nonnegative();

/** The notes of a recording, from the store or from an untrusted file. */
export const notesSchema = z.object({
  usage: z.object({ cpuMs: amount.optional(), memoryBytes: amount.optional() }).optional(),
  scripts: z
    .array(
      z.object({
        ...{ name: z.string(), codeDigest: z.string(), byCall: amount, startedAtMs: amount },
        ...{ durationMs: amount.optional(), isFailed: z.boolean().optional() },
        calls: z.array(
          z.object({
            ...{ number: amount, target: z.string(), argumentsJson: z.string() },
            answer: z
              .union([z.object({ ok: z.literal(true), json: z.string() }), z.object({ ok: z.literal(false) })])
              .optional(),
          }),
        ),
      }),
    )
    .optional(),
  retries: z.array(z.object({ call: amount, atMs: amount, failure: z.string() })).optional(),
});
