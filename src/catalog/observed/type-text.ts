import { cutToDepth, EMPTY, type ObservedObject, type ObservedShape, SHAPE_BOUNDS } from './observed-shape.js';
import { TEXT_KINDS, type TextKind } from './text-data.js';

/** About 700 tokens: observed types must not crowd out declared ones. */
const MAX_CHARACTERS = 2_500;
const MAX_ONE_LINE = 90;

/** A shape as a TypeScript type. Its text has only field names and TypeScript syntax. */
export function typeText(shape: ObservedShape): string {
  for (let depth: number = SHAPE_BOUNDS.depth + 1; depth > 0; depth -= 1) {
    const text = write(cutToDepth(shape, depth), '');
    if (text.length <= MAX_CHARACTERS) return text;
  }
  return 'unknown';
}

function write(shape: ObservedShape, indent: string): string {
  if (shape.isOpen === true || shape === EMPTY) return 'unknown';
  const kinds: string[] = [];
  if (shape.isString === true) kinds.push(textType(shape, indent));
  if (shape.isNumber === true) kinds.push('number');
  if (shape.isBoolean === true) kinds.push('boolean');
  if (shape.object !== undefined) kinds.push(writeObject(shape.object, indent));
  if (shape.items !== undefined) kinds.push(writeArray(shape.items, indent));
  if (shape.isNull === true) kinds.push('null');
  return kinds.length === 0 ? 'unknown' : kinds.join(' | ');
}

/** Comments cannot nest. Text inside a text is not examined, so a comment never contains another. */
function textType({ texts = '', json, isCut }: ObservedShape, indent: string): string {
  const kinds = [...texts] as TextKind[];
  const read = kinds.filter((kind) => kind !== 'x');
  if (read.length === 0) return 'string';
  const named = read.map((kind) => TEXT_KINDS[kind]).join(' or ');
  const plain = read.length < kinds.length ? `, or ${TEXT_KINDS.x}` : '';
  const cut = isCut === true ? ', cut off by the server where it is long' : '';
  return `/** ${named}${json === undefined ? '' : ` of: ${write(json, indent)}`}${plain}${cut} */ string`;
}

function writeArray(items: ObservedShape, indent: string): string {
  const item = write(items, indent);
  return isOneName(items) ? `${item}[]` : `(${item})[]`;
}

/** Whether the type needs no parentheses before `[]`. */
function isOneName({ isString, isNumber, isBoolean, isNull, items, object, isOpen }: ObservedShape): boolean {
  if (isOpen === true) return true;
  return [isString, isNumber, isBoolean, isNull, items, object].filter((kind) => kind !== undefined).length < 2;
}

function writeObject({ properties, others }: ObservedObject, indent: string): string {
  if (properties.size === 0) {
    return others === undefined ? 'Record<string, never>' : `Record<string, ${write(others, indent)}>`;
  }
  const inner = `${indent}  `;
  const members = [...properties].map(([name, { shape, isOptional }]) => {
    const key = /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name) ? name : JSON.stringify(name);
    return `${key}${isOptional ? '?' : ''}: ${write(shape, inner)}`;
  });
  // An index signature must match every property beside it.
  if (others !== undefined) members.push('[key: string]: unknown');
  const oneLine = `{ ${members.join('; ')} }`;
  if (indent.length + oneLine.length <= MAX_ONE_LINE && !oneLine.includes('\n')) return oneLine;
  return `{\n${members.map((member) => `${inner}${member};\n`).join('')}${indent}}`;
}
