import type { ObservedTypeOf } from '../../catalog/declarations/typescript/typescript.js';
import type { Tool } from '../../domain/tool.js';
import { safeSlice } from '../../lib/text/safe-slice.js';
import { goObserved } from './go-observed.js';
import type { GoTools } from './go-package.js';

/** Kept short: a search shows ten signatures. */
const MAX_FIELDS_CHARACTERS = 200;

/**
 * A function's parameters and result on one line: `getUser(ctx, GetUserInput{ID float64}) (GetUserOutput{Name string}, error)`.
 * Optional fields have a question mark. The observed output follows for a tool that declares none.
 */
export function goSignature(name: string, tool: Tool, tools: GoTools, observedTypeOf?: ObservedTypeOf): string {
  const input = goInputOf(name, tools);
  const [, output = 'string'] = /\) \((\w+), error\)$/m.exec(textOf(name, tools)) ?? [];
  const taken = input === undefined ? '' : `, ${withFields(input, tools)}`;
  const given = output === 'string' ? output : withFields(output, tools);
  return `${name}(ctx${taken}) (${given}, error)${observedIn(tool, observedTypeOf)}`;
}

/** ` // observed: CSV text of: { id: string }[]`, if an output was observed. */
export function observedIn(tool: Tool, observedTypeOf: ObservedTypeOf | undefined): string {
  const seen = tool.outputSchema === undefined ? goObserved(observedTypeOf?.(tool)) : undefined;
  return seen === undefined ? '' : ` // observed: ${seen}`;
}

/** The input type of a function; undefined if it takes no input. */
export function goInputOf(name: string, tools: GoTools): string | undefined {
  return /, input (\w+)\) \(/.exec(textOf(name, tools))?.[1];
}

/** The fields of a struct by their JSON names. */
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

/** A field of a struct as declared for an agent, one per line. */
const FIELD = /^\t(\w+)\s+(.+?)\s+`json:"([^`]*)"`$/gm;
