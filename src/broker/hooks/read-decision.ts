import * as z from 'zod';
import type { HookDecision } from '../../domain/hook.js';
import { visibleLine } from '../../lib/text/visible-text.js';

const MAX_REASON_CHARACTERS = 500;
const NO_REASON = 'it gave no reason';

const answer = z.object({ decision: z.enum(['allow', 'deny']), reason: z.string().optional() });

/** Reads a hook's answer. Empty text means allow. Throws if any other text is not a decision. */
export function readDecision(text: string): HookDecision {
  if (text.trim() === '') return { decision: 'allow' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`its answer is not JSON: ${visibleLine(text.trim().slice(0, 80))}`);
  }
  const parsed = answer.safeParse(value);
  if (!parsed.success) throw new Error('its answer has no "decision" of "allow" or "deny"');
  const { decision, reason } = parsed.data;
  return decision === 'allow' ? { decision } : denied(reason ?? '');
}

/** Models and people read the reason, so it is one visible line. */
export function denied(reason: string): HookDecision {
  const line = visibleLine(reason.trim()).slice(0, MAX_REASON_CHARACTERS);
  return { decision: 'deny', reason: line === '' ? NO_REASON : line };
}
