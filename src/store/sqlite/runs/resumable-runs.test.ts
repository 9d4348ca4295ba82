import { expect, test } from 'vitest';
import type { StoredRun } from '../../runs.js';
import { watchResumable } from './resumable-runs.js';

const RUN = { id: 'r' } as StoredRun;

test('a run that is being resumed already does not keep the host busy', async () => {
  let looks = 0;
  const find = () => {
    looks += 1;
    // Fails instead of hanging: nothing else runs while this is called again and again.
    if (looks > 100) throw new Error('looked at without end');
    return [RUN];
  };
  const stop = watchResumable(find, { room: 1, canTake: () => true, take: async () => false });
  await expect.poll(() => looks, { timeout: 10_000 }).toBeGreaterThan(1);
  stop();
  expect(looks).toBeLessThan(10);
});

test('the next run is looked for as soon as one has ended', async () => {
  const waiting = ['a', 'b', 'c'];
  const taken: string[] = [];
  const find = () => waiting.map((id) => ({ id }) as StoredRun);
  const take = async ({ id }: StoredRun) => {
    taken.push(id);
    waiting.splice(waiting.indexOf(id), 1);
    return true;
  };
  const stop = watchResumable(find, { room: 1, canTake: () => true, take });
  await expect.poll(() => taken, { timeout: 10_000 }).toEqual(['a', 'b', 'c']);
  stop();
});
