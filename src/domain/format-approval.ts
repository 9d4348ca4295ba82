import { safeSlice } from '../lib/text/safe-slice.js';
import { visibleJson } from '../lib/text/visible-text.js';
import type { Approval } from './approval.js';

/** Limit for the arguments of one call. */
export const MAX_ARGUMENT_CHARACTERS = 160;

/** The arguments of a call from its approval: redacted, and cut. */
export function formatArguments({ arguments: given }: Pick<Approval, 'arguments'>): string {
  const text = visibleJson(given);
  if (text.length <= MAX_ARGUMENT_CHARACTERS) return text;
  const begin = safeSlice(text, MAX_ARGUMENT_CHARACTERS);
  return `${begin}… (${text.length - begin.length} more characters)`;
}

/** In UTC, to the second. */
export function timeOf(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z') : 'its end';
}
