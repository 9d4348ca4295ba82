import { expect, test } from 'vitest';
import { snapshotOf } from '../../../../test/support/catalog.js';
import { typeCheckPrograms } from '../../../../test/support/type-check.js';
import { namespacesOf } from '../../namespaces.js';
import { declareApi } from './unified-api.js';

/** The document's own example, and tools that have something against being called by position. */
const text = declareApi(
  namespacesOf(
    snapshotOf([
      {
        id: 'helpscout',
        name: 'HelpScout',
        description: 'HelpScout customer support API',
        tools: [
          {
            name: 'searchInboxes',
            description: 'Search for inboxes by query string',
            annotations: { readOnlyHint: true },
            inputSchema: {
              type: 'object',
              properties: {
                query: { type: 'string', description: 'Search query for inbox names or emails' },
                limit: { type: 'number', default: 50, description: 'Maximum number of results to return' },
              },
              required: ['query'],
            },
          },
          {
            name: 'deleteInbox',
            description: 'Deletes one.',
            deprecated: true,
            annotations: { destructiveHint: true },
            inputSchema: {
              type: 'object',
              properties: { reason: { enum: ['spam', 'old'] }, ids: { type: 'array', items: { type: 'string' } } },
              required: ['ids'],
            },
          },
          {
            name: 'filter',
            annotations: { readOnlyHint: true },
            inputSchema: { type: 'object', properties: { where: { type: 'object' }, limit: { type: 'number' } } },
          },
          {
            name: 'odd',
            inputSchema: { type: 'object', properties: { 'a-b': { type: 'string' }, default: { type: 'string' } } },
          },
        ],
      },
    ]),
  ),
);

test('methods have parameter lists with their docs, examples and deprecation [C10]', () => {
  expect(text.slice(text.indexOf('declare namespace'))).toMatchInlineSnapshot(`
    "declare namespace Namespace1 {
      /**
       * Search for inboxes by query string
       * @annotations readOnlyHint: true
       * @example await mcp.helpscout.searchInboxes({ query: "text" })
       */
      export function searchInboxes(input: {
        /** Search query for inbox names or emails */
        query: string;
        /** Maximum number of results to return @default 50 */
        limit?: number;
      }): Promise<ToolOutput>;
      /**
       * @param query - Search query for inbox names or emails
       * @param limit - Maximum number of results to return (default 50)
       */
      export function searchInboxes(query: string, limit?: number): Promise<ToolOutput>;

      /**
       * Deletes one.
       * @annotations destructiveHint: true
       * @deprecated
       */
      export function deleteInbox(input: { reason?: "spam" | "old"; ids: string[] }): Promise<ToolOutput>;
      /** @deprecated */
      export function deleteInbox(reason: "spam" | "old" | undefined, ids: string[]): Promise<ToolOutput>;

      /**
       * @annotations readOnlyHint: true
       * @example await mcp.helpscout.filter()
       */
      export function filter(input?: { where?: Record<string, unknown>; limit?: number }): Promise<ToolOutput>;

      export function odd(input?: { "a-b"?: string; default?: string }): Promise<ToolOutput>;
    }

    export interface UnifiedAPI {
      helpscout: typeof Namespace1;
    }

    declare global {
      const mcp: UnifiedAPI;
    }
    "
  `);
});

test('they can be called by name or by position, and wrong calls do not compile [C10]', () => {
  const compiles = (call: string) =>
    typeCheckPrograms(
      new Map([['api.ts', `${text}\nexport const answer: Promise<unknown> = mcp.helpscout.${call};\n`]]),
    ).length === 0;
  expect(compiles('searchInboxes({ query: "support" })')).toBe(true);
  expect(compiles('searchInboxes("support")')).toBe(true);
  expect(compiles('searchInboxes("sales", 10)')).toBe(true);
  expect(compiles('deleteInbox(undefined, ["a"])')).toBe(true);
  expect(compiles('searchInboxes(10)')).toBe(false);
  expect(compiles('searchInboxes("sales", "10")')).toBe(false);
  expect(compiles('deleteInbox("new", ["a"])')).toBe(false);
  expect(compiles('filter({ limit: 1 }, 1)')).toBe(false);
});
