import { expect, test } from 'vitest';
import { SMALL_CATALOG, snapshotOf } from '../../../test/support/catalog.js';
import { firstDeclarations, isSilent } from './run-summary.js';

const silent = (source: string, resultJson = 'null', hasOnlyRead = false) =>
  isSilent({ status: 'completed', resultJson }, [], source, { profile: 'codemode', hasOnlyRead });

test.each([
  'const __codemode_result__ = 4;',
  'let  __codemode_result__ = 4',
  'var __codemode_result__;',
  'const result = 4;',
])('%s assigns no result, and the program is told', (source) => {
  expect(silent(source)).toBe(true);
});

test.each(['globalThis.__codemode_result__ = null;', 'const __codemode_result__2 = 1;', '1 + 1'])(
  '%s is left alone',
  (source) => {
    expect(silent(source)).toBe(false);
  },
);

const view = { forCode: snapshotOf(SMALL_CATALOG), direct: [], hiddenServers: [] };
const declared = (source: string, hasFailed = false) =>
  firstDeclarations(view, source, [], () => false, hasFailed).map(({ path, tools }) => [path, tools.length > 0]);
const IMPORT = `import * as notes from '@codemode/servers/notes';\n`;

test.each([
  ['a server that is imported and not used', IMPORT, [['notes', true]]],
  ['one whose tools the program has listed and not used', `${IMPORT}await listTools("notes");`, []],
  ['one whose types the program has read and not used', `${IMPORT}await getTypes( 'notes' );`, []],
  [
    'one whose tools were listed and used',
    `${IMPORT}await listTools("notes"); notes.search_notes();`,
    [['notes', true]],
  ],
  ['one beside which another was listed', `${IMPORT}await listTools("other");`, [['notes', true]]],
])('types come with an answer: %s', (_, source, expected) => {
  expect(declared(source)).toEqual(expected);
});

test('types come with a failure, whatever the program has listed', () => {
  expect(declared(`${IMPORT}await listTools("notes");`, true)).toEqual([['notes', true]]);
});
