/** Longer texts are not tested and count as a match. Callers that need an exact answer check the length first. */
export const MAX_TEXT_CHARACTERS = 100_000;
