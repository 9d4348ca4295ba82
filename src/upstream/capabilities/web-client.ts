import { Agent, fetch } from 'undici';

/**
 * Loaded with the first request. A file of its own, because a package in the older module format keeps its names in the
 * bundle only where they are imported by name.
 */
export const webClient = { Agent, fetch };
