import { expect, test } from 'vitest';
import { ERRORS } from '../../src/domain/errors.js';

/** Codes, statuses and exit statuses that peers see. A red line here means: visible change; was it meant? */
test('every failure of the host has its code, blame, HTTP status and exit status', () => {
  expect(
    Object.entries(ERRORS).map(
      ([code, { blame, http, exit, retry }]) => `${code}: ${blame} ${http} ${exit}${retry ? ' retry' : ''}`,
    ),
  ).toEqual([
    'bad_input: caller 400 2',
    'bad_config: caller 500 2',
    'untrusted_config: caller 500 2',
    'not_found: caller 404 2',
    'conflict: caller 409 2',
    'capability_violation: policy 403 4',
    'cancelled: caller 499 130 retry',
    'image_rejected: caller 409 4',
    'upstream_unavailable: upstream 502 69 retry',
    'issuer_unavailable: upstream 503 69 retry',
    'login_needed: caller 502 69',
    'quota_exceeded: caller 429 75 retry',
    'sandbox_busy: host 503 75 retry',
    'lease_lost: host 409 75 retry',
    'shutting_down: host 503 75 retry',
    'store_unavailable: machine 503 69 retry',
    'jail_unavailable: machine 500 69',
    'worker_lost: host 500 70 retry',
    'wire_violation: host 500 70 retry',
    'internal: host 500 70',
  ]);
});
