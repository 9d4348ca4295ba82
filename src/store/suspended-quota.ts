import type { HostError } from '../domain/errors.js';
import { type CallerQuotas, inMebibytes, quotaExceeded } from '../domain/quotas.js';

/** The error for a caller whose suspended runs would exceed its quota. */
export function tooManySuspended(quotas: CallerQuotas): HostError {
  quotas.countRefusal('suspended');
  const has = `your suspended runs take ${inMebibytes(quotas.limits.suspended)}`;
  return quotaExceeded('suspended', has, 'decide about those that wait for approval, or cancel them');
}
