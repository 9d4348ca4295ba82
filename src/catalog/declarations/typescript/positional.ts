import { isJsonObject } from '../../../domain/json.js';
import type { Tool } from '../../../domain/tool.js';
import { quoteVisibly } from '../../../lib/text/visible-text.js';
import { commentLine } from '../doc-comment.js';
import { nodeComment } from '../schema/node-comment.js';
import { type SchemaModel, type SchemaNode, withoutReference } from '../schema/schema-model.js';

/** One parameter of a function that takes its input by position. */
export interface Parameter {
  readonly name: string;
  /** TypeScript. */
  readonly type: string;
  readonly isOptional: boolean;
  /** On one line; may be empty. Untrusted text, escaped for a comment. */
  readonly description: string;
}

/**
 * The input of a tool as a list of parameters, in the order of its schema. Undefined if positional calls do not suit it: too many
 * parameters, names that are not identifiers, or values other than text, numbers, booleans and lists of them. (A single object is
 * the input by name, so no object may come first; in later positions nobody writes objects.)
 */
export function parametersOf({ inputSchema }: Tool, model: SchemaModel): readonly Parameter[] | undefined {
  const { shape } = withoutReference(model.root);
  if (shape.kind !== 'object' || !isJsonObject(inputSchema?.properties)) return undefined;
  const names = [...shape.properties.keys()];
  if (names.length === 0 || names.length > MAX_PARAMETERS) return undefined;
  // Positions follow the schema's own order. A schema merged from parts has none.
  if (names.join('\n') !== Object.keys(inputSchema.properties).join('\n')) return undefined;
  const parameters: Parameter[] = [];
  for (const [name, { node, isRequired }] of shape.properties) {
    const type = simpleType(node);
    if (type === undefined || !PLAIN_NAME.test(name) || RESERVED.has(name)) return undefined;
    const { lines, facts } = nodeComment(node, 'compact', '');
    const description = commentLine([...lines, facts.length === 0 ? '' : `(${facts.join(', ')})`].join(' '), 160);
    parameters.push({ name, type, isOptional: !isRequired, description });
  }
  return parameters;
}

/** Formatted for a signature. An optional parameter cannot precede a required one. */
export function parameterList(parameters: readonly Parameter[]): string {
  const lastNeeded = parameters.findLastIndex(({ isOptional }) => !isOptional);
  return parameters
    .map(({ name, type, isOptional }, index) => {
      if (!isOptional) return `${name}: ${type}`;
      return index < lastNeeded ? `${name}: ${type} | undefined` : `${name}?: ${type}`;
    })
    .join(', ');
}

export function parameterDocs(parameters: readonly Parameter[]): string[] {
  return parameters.flatMap(({ name, description }) => (description === '' ? [] : [`@param ${name} - ${description}`]));
}

const MAX_PARAMETERS = 6;
const MAX_LITERALS = 12;
const PLAIN_NAME = /^[A-Za-z_$][A-Za-z0-9_$]{0,39}$/;
const RESERVED = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends ' +
    'false finally for function if implements import in instanceof interface let new null package private protected ' +
    'public return static super switch this throw true try typeof var void while with yield'
  ).split(' '),
);

function simpleType(node: SchemaNode): string | undefined {
  const { shape } = node;
  switch (shape.kind) {
    case 'string':
    case 'number':
    case 'boolean':
      return shape.kind;
    case 'integer':
      return 'number';
    case 'literals':
      return shape.values.length <= MAX_LITERALS ? literalType(shape.values) : undefined;
    case 'array': {
      const item = simpleType(shape.item);
      return item === undefined ? undefined : /^\w+$/.test(item) ? `${item}[]` : `(${item})[]`;
    }
    default:
      return undefined;
  }
}

function literalType(values: readonly unknown[]): string | undefined {
  const texts = values.map((value) =>
    typeof value === 'string' ? quoteVisibly(value) : typeof value === 'number' ? String(value) : undefined,
  );
  return texts.includes(undefined) ? undefined : texts.join(' | ');
}
