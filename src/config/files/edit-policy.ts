import { isDeepStrictEqual } from 'node:util';
import { Document, isMap, isSeq, type Node, type ParsedNode, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { HostError } from '../../domain/errors.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { isObject } from '../schema/server-map.js';
import { blankComments, isJsonFile, parseYaml } from './document.js';

/**
 * The text of the file with this policy rule added, before the rule with that index or after the last. Everything else stays
 * unchanged, to the letter. Throws `bad_input` if that cannot be done safely.
 */
export function withPolicyRule(text: string, file: string, rule: JsonObject, before?: number): string {
  const root = parseYaml(text, file).value ?? {};
  if (!isObject(root)) throw cannotChange(file);
  const { policy } = root;
  const isList = Array.isArray(policy);
  const rules = isList ? policy : isObject(policy ?? null) ? ((policy as JsonObject).rules ?? []) : [];
  if (!Array.isArray(rules)) throw cannotChange(file);
  const at = before === undefined ? rules.length : before - 1;
  if (at > rules.length) throw new HostError('bad_input', `before: there are ${rules.length} rules in ${file}`);
  const added = rules.toSpliced(at, 0, rule);
  const expected = {
    ...root,
    policy: isList ? added : { ...((policy as JsonObject | undefined) ?? {}), rules: added },
  };
  const path = isList ? ['policy'] : ['policy', 'rules'];
  for (const attempt of [
    () => inserted(text, file, path, rule, at),
    () => insertedInline(text, file, path, rule, at),
    () => appended(text, file, rule, policy),
  ]) {
    const result = attempt();
    if (result !== undefined && saysSo(result, file, expected)) return result;
  }
  throw cannotChange(file);
}

/** Inserts into an existing list of rules, on a line of its own where the others have one. */
function inserted(text: string, file: string, path: string[], rule: JsonObject, at: number): string | undefined {
  const list = rulesIn(text, file, path);
  if (list === undefined) return undefined;
  const items = list.items as Node[];
  const next = items[at];
  if (!isJsonFile(file) && list.flow !== true) return insertedIntoBlock(text, list, rule, next);
  const neighbour = next ?? (items.at(-1) as Node);
  const indent = text.slice(startOfLine(text, startOf(neighbour)), startOf(neighbour));
  if (indent.trim() !== '') return undefined;
  if (next !== undefined)
    return splice(text, aboveComments(text, startOfLine(text, startOf(next)), indent), `${indent}${oneLine(rule)},\n`);
  const end = endOf(neighbour);
  const hasComma = /^\s*,/.test(text.slice(end));
  // A comment behind the last rule stays behind it.
  const lineEnd = Math.min(...[text.indexOf('\n', end), endOf(list) - 1].filter((offset) => offset >= end));
  const added = `\n${indent}${oneLine(rule)}${hasComma ? ',' : ''}`;
  return `${text.slice(0, end)}${hasComma ? '' : ','}${text.slice(end, lineEnd)}${added}${text.slice(lineEnd)}`;
}

/** The same in a list that is written in one line. */
function insertedInline(text: string, file: string, path: string[], rule: JsonObject, at: number): string | undefined {
  const list = rulesIn(text, file, path);
  if (list === undefined || !(isJsonFile(file) || list.flow === true)) return undefined;
  const items = list.items as Node[];
  const [next, last] = [items[at], items.at(-1) as Node];
  const json = oneLine(rule);
  return next === undefined ? splice(text, endOf(last), `, ${json}`) : splice(text, startOf(next), `${json}, `);
}

function rulesIn(text: string, file: string, path: string[]): YAMLSeq | undefined {
  const list = parseDocument(isJsonFile(file) ? blankComments(text) : text, OPTIONS).getIn(path, true);
  return isSeq(list) && list.items.length > 0 ? list : undefined;
}

/** JSON in one line, with spaces as people write it. */
function oneLine(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${oneLine(each)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

function insertedIntoBlock(text: string, list: YAMLSeq, rule: JsonObject, next: Node | undefined): string | undefined {
  const [first] = list.items as Node[];
  if (first === undefined) return undefined;
  const lineOfFirst = text.slice(startOfLine(text, startOf(first)), startOf(first));
  const indent = /^(\s*)-\s*$/.exec(lineOfFirst)?.[1];
  if (indent === undefined) return undefined;
  const body = new Document([rule]).toString({ lineWidth: 0 }).trimEnd();
  const block = `${body.replace(/^(?=.)/gm, indent)}\n`;
  if (next !== undefined) return splice(text, aboveComments(text, startOfLine(text, startOf(next)), indent), block);
  // The last rule ends at its last line that is neither blank nor a less indented comment.
  const end = endOf(list.items.at(-1) as Node);
  const lineEnd = text.indexOf('\n', Math.max(0, end - 1));
  const head = lineEnd < 0 ? `${text}\n` : text.slice(0, lineEnd + 1);
  return head + block + (lineEnd < 0 ? '' : text.slice(lineEnd + 1));
}

/** Comments directly above a rule, with the same indentation, belong to it. */
function aboveComments(text: string, lineStart: number, indent: string): number {
  let start = lineStart;
  for (;;) {
    if (start === 0) return start;
    const above = startOfLine(text, start - 1);
    const line = text.slice(above, start);
    if (!['#', '//'].some((mark) => line.startsWith(indent + mark))) return start;
    start = above;
  }
}

/** For a file that has no rules yet. */
function appended(text: string, file: string, rule: JsonObject, policy: JsonValue | undefined): string | undefined {
  if (isJsonFile(file)) {
    const document = parseDocument(blankComments(text), OPTIONS);
    if (policy === undefined)
      return withField(text, document.contents, 'policy', ['{', `  "rules": [`, `    ${oneLine(rule)}`, '  ]', '}']);
    const list = ['[', `  ${oneLine(rule)}`, ']'];
    const place = Array.isArray(policy) ? ['policy'] : ['policy', 'rules'];
    const empty = document.getIn(place, true) as ParsedNode | undefined;
    if (empty === undefined) return withField(text, document.get('policy', true), 'rules', list);
    // Whatever stands between its brackets is a comment, which would be lost.
    if (!/^\[\s*\]$/.test(text.slice(startOf(empty), endOf(empty)))) return undefined;
    const indent = /^[ \t]*/.exec(text.slice(startOfLine(text, startOf(empty))))?.[0] ?? '';
    return text.slice(0, startOf(empty)) + list.join(`\n${indent}`) + text.slice(endOf(empty));
  }
  if (policy === undefined || policy === null) {
    const body = new Document({ policy: { rules: [rule] } }).toString({ lineWidth: 0 });
    if (policy === undefined) return `${text === '' || text.endsWith('\n') ? text : `${text}\n`}${body}`;
  }
  const document = parseDocument(text, OPTIONS);
  document.setIn(Array.isArray(policy) ? ['policy'] : ['policy', 'rules'], document.createNode([rule]));
  return document.toString({ lineWidth: 0 });
}

/** The text with a last field in this JSON object, which has others. */
function withField(text: string, object: unknown, name: string, lines: readonly string[]): string | undefined {
  const last = isMap(object) ? (object as YAMLMap<Node, Node | null>).items.at(-1) : undefined;
  if (last?.value == null) return undefined;
  const before = text.slice(startOfLine(text, startOf(last.key)), startOf(last.key));
  const indent = before.trim() === '' ? before : '  ';
  return splice(text, endOf(last.value), `,\n${indent}${JSON.stringify(name)}: ${lines.join(`\n${indent}`)}`);
}

const OPTIONS = { version: '1.2', schema: 'core', merge: true } as const;

function saysSo(text: string, file: string, expected: JsonObject): boolean {
  try {
    return isDeepStrictEqual(parseYaml(text, file).value, expected);
  } catch {
    return false;
  }
}

function splice(text: string, at: number, added: string): string {
  return text.slice(0, at) + added + text.slice(at);
}

function startOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

/** The end of its value, before the whitespace and comments that follow. */
function endOf(node: Node): number {
  return node.range?.[1] ?? 0;
}

function startOfLine(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function cannotChange(file: string): HostError {
  return new HostError('bad_input', `${file} is written in a way that codemode cannot change safely; edit it by hand`);
}
