import type { JsonObject } from '../../domain/json.js';

/** A person who sits at a client, reads its forms and decides. */
export interface PersonAtClient {
  /** Owner of the client's token. Absent over stdio, where the client is the user's own. */
  readonly subject?: string;
}

/** A client that may be asked questions. */
export interface AskedClient {
  readonly caller: string;
  /** Distinguishes this client from others of the same caller. Absent if unknown. */
  readonly clientKey?: string;
  /** If absent, no form is sent to the client, whatever it claims to support. */
  readonly person?: PersonAtClient;
}

/** Shows a form to the user of a client, and returns the user's answer. */
export type ShowForm = (form: JsonObject, signal: AbortSignal) => Promise<FormAnswer>;

export interface FormAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, unknown> | undefined;
}
