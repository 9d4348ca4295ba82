import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import type { ToolReply } from '../../domain/upstream.js';
import { fullPageOf } from './full-page.js';

const toolWith = (properties: JsonObject): Tool => ({
  serverId: 'server',
  name: 'list',
  inputSchema: { type: 'object', properties },
});
const rows = (count: number): JsonValue[] => Array.from({ length: count }, (_, id) => id);
const asText = (value: JsonValue): ToolReply => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
  isError: false,
});
const asValue = (value: JsonValue): ToolReply => ({ content: [], structuredContent: value, isError: false });
const fieldOf = (properties: JsonObject, args: JsonObject, reply: ToolReply) =>
  fullPageOf(toolWith(properties), args, reply)?.field;

test.each<[string, JsonObject, JsonObject, ToolReply, string]>([
  ['a usual page of a list in text', { page: {} }, {}, asText(rows(30)), '30 rows, a full page'],
  ['the default of the schema', { limit: { default: 7 } }, {}, asValue({ items: rows(7) }), '7 rows, a full page'],
  ['a default in words', { limit: { description: '(default: 12)' } }, {}, asText(rows(12)), '12 rows, a full page'],
  ['as many as were asked for', { page: {}, per_page: {} }, { per_page: 75 }, asText(rows(75)), '75 rows, a full page'],
  ['fewer than are counted', { offset: {} }, {}, asValue({ hits: rows(3), totalHits: 9 }), 'totalHits: 9'],
])('%s may be a part', (_, properties, args, reply, field) => {
  expect(fieldOf(properties, args, reply)).toBe(field);
});

test.each<[string, JsonObject, JsonObject, ToolReply]>([
  ['a tool without pages', { name: {} }, {}, asText(rows(30))],
  ['a page that was asked for', { page: {} }, { page: 1 }, asText(rows(30))],
  ['a few rows that were asked for', { page: {}, limit: {} }, { limit: 10 }, asText(rows(10))],
  ['a number of rows that is no page', { page: {} }, {}, asText(rows(31))],
  ['an answer that says so itself', { page: {} }, {}, asValue({ items: rows(30), has_more: false })],
  ['a cursor that is empty', { cursor: {} }, {}, asValue({ items: rows(30), meta: { next_cursor: null } })],
  ['a sum that is called total', { page: {} }, {}, asValue({ items: rows(3), total: 900 })],
  ['two lists', { page: {} }, {}, asValue({ a: rows(30), b: rows(30) })],
  ['pages that are things', { page_id: {} }, {}, asText(rows(30))],
  ['text that is none', { page: {} }, {}, asText('[1, 2')],
])('%s is taken for the whole', (_, properties, args, reply) => {
  expect(fieldOf(properties, args, reply)).toBeUndefined();
});
