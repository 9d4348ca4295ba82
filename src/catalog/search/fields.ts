import type { Tool } from '../../domain/tool.js';
import type { RANKING } from './ranking.js';

/** The searchable text of a tool, by field, within `budgetChars` in total. The most informative fields are filled first. */
export function fieldsOf(tool: Tool, budgetChars: number): Record<keyof typeof RANKING.fields, string> {
  const budget = new Budget(budgetChars);
  const name = budget.take(tool.name);
  const title = budget.take(tool.title ?? tool.annotations?.title ?? '');
  const description = typeof tool.description === 'string' ? tool.description : '';
  const summaryEnd = endOfSummary(description);
  const summary = budget.take(description.slice(0, summaryEnd));
  const schema = readSchema(tool.inputSchema, Math.min(MAX_SCHEMA_NODES, Math.ceil(budgetChars / CHARS_PER_NODE)));
  const propertyNames = budget.take(schema.names.join(' '));
  const enumValues = budget.take(schema.enums.join(' '));
  const details = budget.take(description.slice(summaryEnd, summaryEnd + MAX_FIELD_CHARS));
  const propertyTexts = budget.take(schema.texts.join(' '));
  return { name, title, summary, details, propertyNames, propertyTexts, enumValues };
}

/** A description of a megabyte is an attack or an accident. Tools differ in their first pages. */
const MAX_FIELD_CHARS = 1_500;
const MAX_SUMMARY_CHARS = 300;
const MAX_SCHEMA_NODES = 300;
/** With a smaller budget, a smaller part of the schema is walked. */
const CHARS_PER_NODE = 10;
const MAX_SCHEMA_DEPTH = 6;
const MAX_ENUM_VALUES = 40;
const MAX_VALUE_CHARS = 200;

class Budget {
  #left: number;

  constructor(chars: number) {
    this.#left = chars;
  }

  take(text: unknown): string {
    if (typeof text !== 'string' || this.#left <= 0) return '';
    const taken = text.slice(0, Math.min(this.#left, MAX_FIELD_CHARS));
    this.#left -= taken.length;
    return taken;
  }
}

/** The first sentence or line states the tool's purpose. The rest tells how to use it, and names other tools. */
function endOfSummary(description: string): number {
  const opening = description.slice(0, MAX_SUMMARY_CHARS);
  const end = opening.trimStart().search(/[.!?](?:\s|$)|[。！？]|\n/);
  return end < 0 ? opening.length : end + (opening.length - opening.trimStart().length) + 1;
}

interface SchemaWords {
  names: string[];
  texts: string[];
  enums: string[];
}

/** Walks an untrusted schema: breadth first, each node once, no reference followed, everything counted. */
function readSchema(root: unknown, maxNodes: number): SchemaWords {
  const found: SchemaWords = { names: [], texts: [], enums: [] };
  const queue: { node: unknown; depth: number }[] = [{ node: root, depth: 0 }];
  for (let i = 0; i < queue.length; i += 1) {
    const { node, depth } = queue[i] as { node: unknown; depth: number };
    if (typeof node !== 'object' || node === null || depth > MAX_SCHEMA_DEPTH) continue;
    const push = (child: unknown) => {
      if (queue.length < maxNodes) queue.push({ node: child, depth: depth + 1 });
    };
    if (Array.isArray(node)) {
      for (const child of node.slice(0, maxNodes)) push(child);
      continue;
    }
    readNode(node as Record<string, unknown>, depth, found, push);
  }
  return found;
}

function readNode(
  node: Record<string, unknown>,
  depth: number,
  found: SchemaWords,
  push: (child: unknown) => void,
): void {
  if (depth > 0 && typeof node.description === 'string') found.texts.push(node.description.slice(0, MAX_VALUE_CHARS));
  if (Array.isArray(node.enum)) {
    for (const value of node.enum.slice(0, MAX_ENUM_VALUES)) {
      if (typeof value === 'string') found.enums.push(value.slice(0, MAX_VALUE_CHARS));
    }
  }
  if (typeof node.properties === 'object' && node.properties !== null && !Array.isArray(node.properties)) {
    let taken = 0;
    for (const name in node.properties) {
      if (taken >= MAX_SCHEMA_NODES || found.names.length >= MAX_SCHEMA_NODES) break;
      taken += 1;
      found.names.push(name.slice(0, MAX_VALUE_CHARS));
      push((node.properties as Record<string, unknown>)[name]);
    }
  }
  for (const key of ['items', 'anyOf', 'oneOf', 'allOf'] as const) push(node[key]);
}
