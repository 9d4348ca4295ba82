import type { JsonObject } from './json.js';

/** What an upstream may ask the client for: a completion, an answer of the user, or the folders in use. */
export type QuestionKind = 'sampling' | 'elicitation' | 'roots';

export const QUESTION_KINDS: readonly QuestionKind[] = ['sampling', 'elicitation', 'roots'];

export interface Question {
  /** The server that asks, under the user's name for it. */
  readonly upstream: string;
  readonly kind: QuestionKind;
  /** The server's name for the question, if it has one. */
  readonly name?: string;
  /** As the server sent it, without the protocol's own metadata. Untrusted. */
  readonly params: JsonObject;
  /** Aborted when the answer is no longer needed: the call has ended, or the server withdrew the question. */
  readonly signal: AbortSignal;
}

/** The client on whose behalf a call is made, which can be asked questions. */
export interface Respondent {
  /** Calls with the same key are made for the same client. Questions never go from one key to another. */
  readonly key: string;
  /** The client's caller. The number of open questions is limited for all clients of one token together. */
  readonly caller: string;
  /** The kinds of questions it can answer, in the protocol's form of capabilities. Only these three kinds. */
  readonly capabilities: JsonObject;
  /** Throws a `HostError` that tells the server why there is no answer; `not_found` if the client can never answer. */
  answer(question: Question): Promise<JsonObject>;
}

/** The kinds of questions that can be answered, as far as known before a call. */
export interface Audience {
  /** The kinds that a server is told about when it connects. */
  announced(): readonly QuestionKind[];
  /** The client, if there can be only one. It is asked for its folders outside calls too. */
  onlyClient(): Respondent | undefined;
}

/** No client to ask, as for a typed command. */
export const NOBODY: Audience = { announced: () => [], onlyClient: () => undefined };
