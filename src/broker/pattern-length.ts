/** Longer texts are not looked at, and count as fitting: whoever must know better asks for the length first. */
export const MAX_TEXT_CHARACTERS = 100_000;
