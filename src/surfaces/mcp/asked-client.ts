import type { JsonObject } from '../../domain/json.js';

/** Somebody who sits at a client, reads its forms and decides. */
export interface PersonAtClient {
  /** Whose token the client has; absent over stdio, where the client is the user's own. */
  readonly subject?: string;
}

/** A client, as far as it can be asked something. */
export interface AskedClient {
  readonly caller: string;
  /** Tells this client from the others of the same caller; absent where that is not known. */
  readonly clientKey?: string;
  /** Absent: no form is sent to the client, whatever it says that it can show. */
  readonly person?: PersonAtClient;
}

/** Puts a form before the user of a client, and gives what they made of it. */
export type ShowForm = (form: JsonObject, signal: AbortSignal) => Promise<FormAnswer>;

export interface FormAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, unknown> | undefined;
}
