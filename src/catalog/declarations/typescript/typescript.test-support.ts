import { expect } from 'vitest';
import { typeCheck } from '../../../../test/support/type-check.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Tool } from '../../../domain/tool.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { type DeclarationOptions, declareModule } from './typescript.js';
import { SHARED_DECLARATIONS } from './typescript-frames.js';

export const tool = (name: string, inputSchema?: JsonObject, more: Partial<Tool> = {}): Tool => ({
  serverId: 'srv',
  name,
  ...omitUndefined({ inputSchema }),
  ...more,
});

/** A module with these tools. It compiles. */
export function declare(tools: readonly Tool[], options?: DeclarationOptions) {
  const declaration = declareModule({ path: 'srv', serverId: 'srv', serverName: 'Server', tools }, options);
  const errors = typeCheck(
    new Map([
      ['/shared.d.ts', SHARED_DECLARATIONS],
      ['/srv.d.ts', declaration.text],
    ]),
  );
  expect(errors).toEqual([]);
  return declaration;
}

/** The declaration of one tool's input, without documentation, on one line. */
export function inputOf(schema: JsonObject): string {
  const { text } = declare([tool('f', schema)], { detail: 'signatures' });
  const flat = text.replace(/\s+/g, ' ');
  return flat.slice(flat.indexOf('{') + 2, flat.indexOf('): Promise')).replace('export function f(', '');
}

/** The type of one property `p`. */
export const typeOf = (schema: JsonObject | boolean): string =>
  inputOf({ type: 'object', properties: { p: schema }, required: ['p'] }).replace(/^input: \{ p: (.*?);? \}$/, '$1');

/** Everything written about one tool with one property, in full detail. */
export const linesOf = (schema: JsonObject, more: Partial<Tool> = {}): string[] =>
  declare([tool('f', { type: 'object', properties: { p: schema } }, more)])
    .text.split('\n')
    .slice(2, -4)
    .map((line) => line.trim());
