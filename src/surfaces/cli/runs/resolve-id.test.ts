import { describe, expect, test } from 'vitest';
import { type IdPlace, resolveId, shortIds } from './resolve-id.js';

const IDS = ['1b6f0000-a', '1b6f0000-b', '7c2e1111-c', '7c2e2222-d'];
const runs: IdPlace = {
  noun: 'run',
  listedBy: 'codemode runs',
  idsWith: (prefix, limit) => IDS.filter((id) => id.startsWith(prefix)).slice(0, limit),
  latest: () => IDS[3],
};

describe('an id', () => {
  test.each([
    ['7c2e1111-c', '7c2e1111-c'],
    ['7c2e1', '7c2e1111-c'],
    ['last', '7c2e2222-d'],
  ])('%s means %s', async (given, id) => {
    expect(await resolveId(given, runs)).toBe(id);
  });

  test.each([
    [
      '1b6f',
      'bad_input',
      '"1b6f" matches several runs: 1b6f0000-a, 1b6f0000-b; give more characters, or see: codemode runs',
    ],
    ['7c2', 'bad_input', '"7c2" is too short for the id of a run; give at least 4 characters of it, or last'],
    ['', 'bad_input', '"" is too short for the id of a run; give at least 4 characters of it, or last'],
    ['ffff', 'not_found', 'there is no run "ffff"; list them with: codemode runs'],
    ['%%%%', 'not_found', 'there is no run "%%%%"; list them with: codemode runs'],
  ])('%s is refused: %s', async (given, code, message) => {
    await expect(resolveId(given, runs)).rejects.toMatchObject({ code, message });
  });

  test('that is all of one and the beginning of another means the one', async () => {
    const place = { ...runs, idsWith: () => ['abcd', 'abcde'] };
    expect(await resolveId('abcd', place)).toBe('abcd');
  });

  test('last is refused where there is none', async () => {
    await expect(resolveId('last', { ...runs, latest: () => undefined })).rejects.toMatchObject({
      message: 'there is no run yet; list them with: codemode runs',
    });
  });
});

test('ids are shortened to 8 characters, or to as many as tell them apart', () => {
  expect(['1b6f0000-a', '7c2e1111-c'].map(shortIds(['1b6f0000-a', '7c2e1111-c']))).toEqual(['1b6f0000', '7c2e1111']);
  expect(IDS.map(shortIds(IDS))).toEqual(['1b6f0000-a', '1b6f0000-b', '7c2e1111-c', '7c2e2222-d']);
  expect(shortIds([])('direct-0123456789ab')).toBe('direct-01234567');
});
