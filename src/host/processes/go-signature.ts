import type { ObservedTypeOf } from '../../catalog/declarations/typescript/typescript.js';
import type { Tool } from '../../domain/tool.js';
import { safeSlice } from '../../lib/text/safe-slice.js';
import { goObserved } from './go-observed.js';
import type { GoTools } from './go-package.js';

/** A search shows ten of them. */
const MAX_FIELDS_CHARACTERS = 200;

/**
 * How a function is called and what it gives, on one line: `getUser(ctx, GetUserInput{ID float64}) (GetUserOutput{Name string}, error)`.
 * Fields that may be left out have a question mark; what a tool without a declared output was seen to give follows.
 */
export function goSignature(name: string, tool: Tool, tools: GoTools, observedTypeOf?: ObservedTypeOf): string {
  const input = goInputOf(name, tools);
  const [, output = 'string'] = /\) \((\w+), error\)$/m.exec(textOf(name, tools)) ?? [];
  const taken = input === undefined ? '' : `, ${withFields(input, tools)}`;
  const given = output === 'string' ? output : withFields(output, tools);
  return `${name}(ctx${taken}) (${given}, error)${observedIn(tool, observedTypeOf)}`;
}

/** ` // observed: CSV text of: { id: string }[]`, where something was seen. */
export function observedIn(tool: Tool, observedTypeOf: ObservedTypeOf | undefined): string {
  const seen = tool.outputSchema === undefined ? goObserved(observedTypeOf?.(tool)) : undefined;
  return seen === undefined ? '' : ` // observed: ${seen}`;
}

/** The type of what a function takes; undefined where it takes nothing. */
export function goInputOf(name: string, tools: GoTools): string | undefined {
  return /, input (\w+)\) \(/.exec(textOf(name, tools))?.[1];
}

/** The fields of a struct by their names in JSON. */
export function goFieldsOf(type: string, tools: GoTools): ReadonlyMap<string, string> {
  const fields = textOf(type, tools).matchAll(FIELD);
  return new Map([...fields].map(([, name = '', , tag = '']) => [tag.replace(',omitempty', ''), name]));
}

function withFields(type: string, tools: GoTools): string {
  const fields = [...textOf(type, tools).matchAll(FIELD)].map(([, name = '', kind = '', tag = '']) => {
    return `${name}${tag.includes(',omitempty') ? '?' : ''} ${kind.trim()}`;
  });
  const all = fields.join('; ');
  const shown = safeSlice(all, MAX_FIELDS_CHARACTERS);
  return fields.length === 0 ? type : `${type}{${shown === all ? all : `${shown.replace(/; [^;]*$/, '')}; …`}}`;
}

function textOf(name: string, { declarations }: GoTools): string {
  return declarations.find(({ names }) => names.includes(name))?.text ?? '';
}

/** Of a struct as it is declared for an agent, one a line. */
const FIELD = /^\t(\w+)\s+(.+?)\s+`json:"([^`]*)"`$/gm;
