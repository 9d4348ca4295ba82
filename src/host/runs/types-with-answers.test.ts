import { expect, test } from 'vitest';
import { SMALL_CATALOG, snapshotOf } from '../../../test/support/catalog.js';
import { firstDeclarations } from './run-summary.js';

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
