import { expect, test } from 'vitest';
import type { CallerId } from '../../domain/run.js';
import type { SharedRate } from '../../store/rates.js';
import { openRunContext } from '../run-context.js';
import { AdmissionControl } from './admission-control.js';
import { CallLimits } from './call-limits.js';

const CALL = { tool: { serverId: 'files', name: 'read' }, serverPath: 'files', caller: 'ann' };

/** One count for all hosts, of which nothing comes back. */
function openHosts(count: number) {
  const left = new Map<string, number>();
  const take = ([rate]: readonly SharedRate[]) => {
    const { key = '', calls = 0 } = rate ?? {};
    const before = left.get(key) ?? calls;
    left.set(key, Math.max(0, before - 1));
    return before > 0 ? 0 : 200;
  };
  return Array.from({ length: count }, () => {
    const control = new AdmissionControl(new CallLimits([], { rates: async () => ({ take }) }));
    const run = (caller: string) => ({
      ...openRunContext('run', caller as CallerId, 'unified', ''),
      grants: { mcp: { servers: ['*'], maxCallsPerSecond: 3 } },
    });
    return (caller = 'ann') => control.takeRate(run(caller), { ...CALL, caller });
  });
}

test('a caller has its rate once, through however many hosts', async () => {
  const [first, second] = openHosts(2) as [
    (caller?: string) => Promise<unknown>,
    (caller?: string) => Promise<unknown>,
  ];
  expect([await first(), await second(), await first()]).toEqual([undefined, undefined, undefined]);
  expect(await second()).toEqual({ limit: 'rate', retryAfterMs: 200 });
  expect(await second('bob')).toBeUndefined();
});

test('a call that the other hosts leave no room for is not counted by its own', async () => {
  const [first, second] = openHosts(2) as [() => Promise<unknown>, () => Promise<unknown>];
  for (let call = 0; call < 3; call += 1) await first();
  // The answer of the shared count each time: the second host's own count would have been full after three.
  for (let call = 0; call < 5; call += 1) expect(await second()).toEqual({ limit: 'rate', retryAfterMs: 200 });
});
