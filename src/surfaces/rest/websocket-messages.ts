import * as z from 'zod';

/** What goes over a connection, both ways. */
export interface WebSocketMessage {
  readonly id: string;
  readonly type: 'execute' | 'result' | 'error' | 'log';
  readonly payload: unknown;
  readonly timestamp: number;
}

const MAX_ID_CHARACTERS = 128;

const execute = z.strictObject({
  id: z.string().min(1).max(MAX_ID_CHARACTERS),
  type: z.literal('execute', 'must be "execute"'),
  payload: z.strictObject({ code: z.unknown(), options: z.record(z.string(), z.unknown()).optional() }),
  timestamp: z.number().optional(),
});

/** A request to execute something: its id, and the request as `POST /execute` has it. */
export function readMessage(
  text: string,
): { readonly id: string; readonly input: object } | { readonly id: string; readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { id: '', problem: 'the message is no JSON' };
  }
  const parsed = execute.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue === undefined || issue.path.length === 0 ? 'the message' : issue.path.join('.');
    return { id: idOf(value), problem: `${field}: ${issue?.message ?? 'is not valid'}` };
  }
  const { id, payload } = parsed.data;
  return { id, input: { ...payload.options, code: payload.code } };
}

/** So that the client knows which of its messages was wrong. */
function idOf(value: unknown): string {
  const { id } = (typeof value === 'object' && value !== null ? value : {}) as { id?: unknown };
  if (typeof id === 'number') return String(id);
  return typeof id === 'string' && id.length <= MAX_ID_CHARACTERS ? id : '';
}
