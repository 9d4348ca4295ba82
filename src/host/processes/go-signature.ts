import type { ObservedTypeOf } from '../../catalog/declarations/typescript/typescript.js';
import { observedResult } from '../../catalog/declarations/typescript/signature.js';
import { safeSlice } from '../../lib/safe-slice.js';
import type { Tool } from '../../domain/tool.js';
import type { GoTools } from './go-package.js';

/** A search shows ten of them. */
const MAX_FIELDS_CHARACTERS = 200;

/**
 * How a function is called and what it gives, on one line: `getUser(ctx, GetUserInput{ID float64}) (GetUserOutput{Name string}, error)`.
 * Fields that may be left out have a question mark; what a tool without a declared output was seen to give follows.
 */
export function goSignature(name: string, tool: Tool, tools: GoTools, observedTypeOf?: ObservedTypeOf): string {
  const declared = tools.declarations.find(({ names }) => names.includes(name))?.text ?? '';
  const [, input] = /, input (\w+)\) \(/.exec(declared) ?? [];
  const [, output = 'string'] = /\) \((\w+), error\)$/m.exec(declared) ?? [];
  const taken = input === undefined ? '' : `, ${withFields(input, tools)}`;
  const given = output === 'string' ? output : withFields(output, tools);
  return `${name}(ctx${taken}) (${given}, error)${observedIn(tool, observedTypeOf)}`;
}

/** ` // observed: CSV text of: { id: string }[]`, where something was seen. */
export function observedIn(tool: Tool, observedTypeOf: ObservedTypeOf | undefined): string {
  const seen = tool.outputSchema === undefined ? observedResult(observedTypeOf?.(tool)) : undefined;
  return seen === undefined || seen === 'string' ? '' : ` // observed: ${seen}`;
}

function withFields(type: string, { declarations }: GoTools): string {
  const text = declarations.find(({ names }) => names.includes(type))?.text ?? '';
  const fields = [...text.matchAll(FIELD)].map(([, name = '', kind = '', tag = '']) => {
    return `${name}${tag.includes(',omitempty') ? '?' : ''} ${kind.trim()}`;
  });
  const all = fields.join('; ');
  const shown = safeSlice(all, MAX_FIELDS_CHARACTERS);
  return fields.length === 0 ? type : `${type}{${shown === all ? all : `${shown.replace(/; [^;]*$/, '')}; …`}}`;
}

/** Of a struct as it is declared for an agent, one a line. */
const FIELD = /^\t(\w+)\s+(.+?)\s+`json:"([^`]*)"`$/gm;
