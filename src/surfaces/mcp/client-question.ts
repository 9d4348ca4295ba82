import { type ClientCapabilities, isSpecType } from '@modelcontextprotocol/server';
import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import { QUESTION_KINDS, type Question, type QuestionKind } from '../../domain/question.js';
import type { PersonAtClient } from './asked-client.js';
import { shownElicitation } from './shown-elicitation.js';

/** Time for a person to answer. */
export const QUESTION_TIMEOUT_MS = 10 * 60_000;

/** A server's question as it is sent to a client, in either era. */
export interface ClientQuestion {
  readonly method: 'sampling/createMessage' | 'elicitation/create' | 'roots/list';
  readonly params: JsonObject;
}

/** What a client can be asked, and whether a person sits there. */
export interface Askable {
  /** The capabilities that the client announced. */
  readonly capabilities: ClientCapabilities | undefined;
  readonly person: PersonAtClient | undefined;
}

/**
 * Throws `not_found` with the capability that the client lacks, and `bad_input` for content that no person may be shown.
 * Elicitation needs a person at the client: an agent would answer in their name.
 */
export function clientQuestion(question: Question, { capabilities, person }: Askable): ClientQuestion {
  if (question.kind === 'elicitation' && person === undefined)
    throw new HostError('not_found', 'no person uses the client of this call, so nobody can be asked');
  const lacking = lackingCapability(question, capabilities ?? {});
  if (lacking !== undefined)
    throw new HostError('not_found', `the client that the call is made for does not support ${lacking}`);
  const { kind, params, upstream } = question;
  switch (kind) {
    case 'sampling':
      return { method: 'sampling/createMessage', params };
    case 'elicitation':
      return { method: 'elicitation/create', params: shownElicitation(upstream, params) };
    case 'roots':
      return { method: 'roots/list', params: {} };
  }
}

/** The client's capabilities that say what it can be asked here. */
export function askable({ capabilities = {}, person }: Askable): JsonObject {
  const kinds = kindsOf(capabilities).filter((kind) => kind !== 'elicitation' || person !== undefined);
  return Object.fromEntries(kinds.map((kind) => [kind, capabilities[kind]] as const)) as JsonObject;
}

/** The kinds of questions that a client supports. */
export function kindsOf(capabilities: ClientCapabilities): QuestionKind[] {
  return QUESTION_KINDS.filter((kind) => capabilities[kind] !== undefined);
}

/** Whether a client's answer is valid for this kind of question. */
export function isAnswerTo(kind: QuestionKind, answer: unknown): answer is JsonObject {
  switch (kind) {
    case 'sampling':
      return isSpecType.CreateMessageResult(answer) || isSpecType.CreateMessageResultWithTools(answer);
    case 'elicitation':
      return isSpecType.ElicitResult(answer);
    case 'roots':
      return isSpecType.ListRootsResult(answer);
  }
}

function lackingCapability({ kind, params }: Question, capabilities: ClientCapabilities): string | undefined {
  const { sampling, elicitation } = capabilities;
  if (capabilities[kind] === undefined) return kind;
  if (kind === 'sampling' && (params.tools ?? params.toolChoice) !== undefined && sampling?.tools === undefined)
    return 'sampling.tools';
  if (kind !== 'elicitation') return undefined;
  if (params.mode === 'url') return elicitation?.url === undefined ? 'elicitation.url' : undefined;
  // A client that names no elicitation mode supports forms.
  return elicitation?.url !== undefined && elicitation.form === undefined ? 'elicitation.form' : undefined;
}
