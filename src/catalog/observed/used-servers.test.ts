import { expect, test } from 'vitest';
import type { CallerId } from '../../domain/run.js';
import { UsedServers } from './used-servers.js';

const ME = 'me' as CallerId;
const OTHER = 'other' as CallerId;

test('runs are counted for each caller, and told as they were at the start', () => {
  const used = new UsedServers(undefined);
  used.note(ME, ['git', 'files']);
  used.note(ME, ['git']);
  used.note(OTHER, ['mail']);
  expect(used.before(ME)).toBeUndefined();
  const stored = used.addedTo({ me: { files: 4 } });
  expect(stored).toEqual({ me: { files: 5, git: 2 }, other: { mail: 1 } });
  // What was written once is not counted again.
  expect(used.addedTo(stored)).toEqual(stored);
  expect(new UsedServers(stored).before(ME)).toEqual(
    new Map([
      ['files', 5],
      ['git', 2],
    ]),
  );
});

test('a file that anybody wrote gives counts or nothing', () => {
  const stored = { me: { git: 'x', files: -1, mail: 2, many: 1e9 }, you: 'no', __proto__: { a: 1 } };
  const used = new UsedServers(JSON.parse(JSON.stringify(stored)));
  expect(used.before(ME)).toEqual(new Map([['mail', 2]]));
  expect(new UsedServers([1]).before(ME)).toBeUndefined();
});

test('a server that is used very often halves all counts, so that what is used lately counts', () => {
  const used = new UsedServers({ me: { git: 999, files: 10 } });
  used.note(ME, ['git']);
  expect(used.addedTo({ me: { git: 999, files: 10 } })).toEqual({ me: { git: 500, files: 5 } });
});
