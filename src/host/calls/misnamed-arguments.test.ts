import { expect, test } from 'vitest';
import { misnamedArguments } from './misnamed-arguments.js';

const tool = { serverId: 'crm', name: 'list', inputSchema: { properties: { country: {}, page_size: {} } } };
const misnamed = (input: Record<string, number>) => misnamedArguments(() => 'crm/list', tool, input);

test('an argument that is a declared one in other letters is named with it', () => {
  expect(misnamed({ Country: 1, pageSize: 2 })).toEqual([
    'crm/list was sent "Country", which it does not declare: it has "country"',
    'crm/list was sent "pageSize", which it does not declare: it has "page_size"',
  ]);
});

test('declared, unlike and additional names are no mistake', () => {
  expect(misnamed({ country: 1, colour: 2 })).toEqual([]);
  expect(misnamed({ country: 1, Country: 2 })).toEqual([]);
});
