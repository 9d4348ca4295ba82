// @ts-check
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entryPoints, findProblems } from './check-entry-points.mjs';
import { ROOT } from './repository.mjs';

const TABLE = readFileSync(join(ROOT, 'docs/security/rules.md'), 'utf8');

test('every entry point of the sources is found', () => {
  expect(entryPoints(ROOT)).toEqual(
    expect.arrayContaining([
      ...['command run', 'mcp http modern', 'profile unified', 'runtime go', 'upstream mcp stdio', 'library index'],
      ...['route GET /tools', 'route POST /execute', 'route /mcp', 'route /ws', 'route POST /approvals/:id/${verb}'],
    ]),
  );
});

test('an entry point without a row is a problem, and so is a row or a test of nothing', () => {
  expect(findProblems(ROOT, TABLE)).toEqual([]);
  const less = TABLE.replace(/^\| command run \|.*\n/m, '');
  expect(findProblems(ROOT, less)).toEqual(['docs/security/rules.md: command run has no row']);
  const more = `${TABLE}\n| command fly | none | none | none | none | none | none |`;
  expect(findProblems(ROOT, more)).toEqual(['docs/security/rules.md: there is no command fly']);
  const wrong = TABLE.replace('attacks/foreign-text', 'attacks/nothing-here');
  expect(findProblems(ROOT, wrong)[0]).toContain('names no test: "`attacks/nothing-here`"');
});
