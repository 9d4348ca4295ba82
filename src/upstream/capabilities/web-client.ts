import { Agent, fetch } from 'undici';

/**
 * Loaded with the first request. A separate file, because the bundle keeps the names of a CommonJS package only if they are
 * imported by name.
 */
export const webClient = { Agent, fetch };
