import type { JsonObject } from './json.js';

/** What an upstream may want from the client behind us: a completion, an answer of the user, the folders in use. */
export type QuestionKind = 'sampling' | 'elicitation' | 'roots';

export const QUESTION_KINDS: readonly QuestionKind[] = ['sampling', 'elicitation', 'roots'];

export interface Question {
  /** The server that asks, by the name the user gave it. */
  readonly upstream: string;
  readonly kind: QuestionKind;
  /** What the server calls it, where it gave it a name. */
  readonly name?: string;
  /** As the server sent it, without the protocol's own notes: untrusted. */
  readonly params: JsonObject;
  /** Aborted when the answer is of no more use: the call has ended, or the server took the question back. */
  readonly signal: AbortSignal;
}

/** The client on whose behalf a call is made, as somebody who can be asked. */
export interface Respondent {
  /** Calls with the same key are made for the same client. Questions never go from one key to another. */
  readonly key: string;
  /** Whose client it is: all clients of one token together have a bound on what they are asked at a time. */
  readonly caller: string;
  /** What it can be asked, as the protocol writes capabilities: of these three kinds only. */
  readonly capabilities: JsonObject;
  /** Throws a `HostError` that says to the server why there is no answer; `not_found` where the client never can. */
  answer(question: Question): Promise<JsonObject>;
}

/** Which kinds of questions can be answered, as far as that is known before a call. */
export interface Audience {
  /** What a server is told at its connection that we answer. */
  announced(): readonly QuestionKind[];
  /** Where there can be only one client: it is asked for its folders outside calls too. */
  onlyClient(): Respondent | undefined;
}

/** Nobody, as for a command that is typed. */
export const NOBODY: Audience = { announced: () => [], onlyClient: () => undefined };
