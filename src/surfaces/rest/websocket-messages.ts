import * as z from 'zod';
import { excessOf } from '../../lib/text/json-excess.js';

/** A message of a connection, in either direction. */
export interface WebSocketMessage {
  readonly id: string;
  readonly type: 'execute' | 'result' | 'error' | 'log';
  readonly payload: unknown;
  readonly timestamp: number;
}

const MAX_ID_CHARACTERS = 128;

const FORM = '{"id": "1", "type": "execute", "payload": {"code": "return 1", "options": {}}}';
const AN_ID = `must be a text of 1 to ${MAX_ID_CHARACTERS} characters`;

const execute = z.strictObject(
  {
    id: z.string(AN_ID).min(1, AN_ID).max(MAX_ID_CHARACTERS, AN_ID),
    type: z.literal('execute', 'must be "execute"'),
    payload: z.strictObject(
      {
        code: z
          .string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be a string of code') })
          .refine((code) => code.trim() !== '', 'is empty'),
        options: z.record(z.string(), z.unknown(), 'must be an object').optional(),
      },
      { error: orUnknown(({ input }) => (input === undefined ? 'is missing' : 'must be an object')) },
    ),
    timestamp: z.number('must be a number').optional(),
  },
  { error: orUnknown(() => 'must be an object') },
);

type Complaint = (issue: { readonly input?: unknown }) => string;

/** Names an unknown key. The usual one is `code` next to the payload. */
function orUnknown(complaint: Complaint) {
  return (issue: { readonly code?: string; readonly keys?: unknown; readonly input?: unknown }): string =>
    issue.code === 'unrecognized_keys'
      ? `${String((issue.keys as string[])[0]).slice(0, 100)} does not belong here`
      : complaint(issue);
}

/** Parses a request to execute code: its id, and the request in the format of `POST /execute`. */
export function readMessage(
  text: string,
): { readonly id: string; readonly input: object } | { readonly id: string; readonly problem: string } {
  const excess = excessOf(text);
  if (excess !== undefined) return { id: '', problem: `the message has ${excess}` };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { id: '', problem: `the message is not JSON; send ${FORM}` };
  }
  const parsed = execute.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue === undefined || issue.path.length === 0 ? 'the message' : issue.path.join('.');
    return { id: idOf(value), problem: `${field}: ${issue?.message ?? 'is not valid'}; send ${FORM}` };
  }
  const { id, payload } = parsed.data;
  return { id, input: { ...payload.options, code: payload.code } };
}

/** Lets the client know which of its messages was wrong. */
function idOf(value: unknown): string {
  const { id } = (typeof value === 'object' && value !== null ? value : {}) as { id?: unknown };
  if (typeof id === 'number') return String(id);
  return typeof id === 'string' && id.length <= MAX_ID_CHARACTERS ? id : '';
}
