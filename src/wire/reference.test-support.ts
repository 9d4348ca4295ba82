import { readFileSync } from 'node:fs';
import ts from 'typescript';

export interface WireMessage {
  readonly type: string;
  readonly comment: string;
  /** All fields but `type`: name and TypeScript type. */
  readonly fields: readonly (readonly [name: string, type: string])[];
}

/** The members of a union in messages.ts, read from its source. */
export function messagesOf(union: string): { readonly comment: string; readonly messages: readonly WireMessage[] } {
  const path = new URL('./messages.ts', import.meta.url);
  const source = ts.createSourceFile('messages.ts', readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const found = source.statements.find((each) => ts.isTypeAliasDeclaration(each) && each.name.text === union);
  if (found === undefined || !ts.isTypeAliasDeclaration(found) || !ts.isUnionTypeNode(found.type))
    throw new Error(`messages.ts has no union ${union}`);
  const messages = found.type.types.flatMap((member) => messagesIn(member, source));
  return { comment: commentBefore(found, source), messages };
}

function messagesIn(member: ts.TypeNode, source: ts.SourceFile): WireMessage[] {
  const comment = commentBefore(member, source);
  const parts = partsOf(member);
  const borrowed = parts.flatMap((part) => (ts.isTypeReferenceNode(part) ? borrowedTypes(part) : []));
  const own = parts.flatMap((part) => (ts.isTypeLiteralNode(part) ? fieldsOf(part, source) : []));
  if (borrowed.length > 0)
    return borrowed.map((type) => ({
      type,
      comment: comment || `As described above, under the messages to a worker.`,
      fields: own,
    }));
  const type = own.find(([name]) => name === 'type')?.[1] ?? '';
  const named = parts.flatMap((part) => (ts.isTypeReferenceNode(part) ? [part.getText(source)] : []));
  const fields = own.filter(([name]) => name !== 'type');
  return [{ type: type.slice(1, -1), comment, fields: [...fields, ...named.map((each) => ['…', each] as const)] }];
}

function partsOf(node: ts.TypeNode): ts.TypeNode[] {
  if (ts.isParenthesizedTypeNode(node)) return partsOf(node.type);
  return ts.isIntersectionTypeNode(node) ? node.types.flatMap(partsOf) : [node];
}

/** `Extract<HostToWorker, { type: 'a' | 'b' }>` as ['a', 'b']. */
function borrowedTypes(reference: ts.TypeReferenceNode): string[] {
  if (reference.getText().startsWith('Extract<') === false) return [];
  return [...(reference.typeArguments?.[1]?.getText() ?? '').matchAll(/'([^']+)'/g)].map(([, type = '']) => type);
}

function fieldsOf(literal: ts.TypeLiteralNode, source: ts.SourceFile): (readonly [string, string])[] {
  return literal.members.filter(ts.isPropertySignature).map((member) => {
    const name = `${member.name.getText(source)}${member.questionToken === undefined ? '' : '?'}`;
    const type = (member.type?.getText(source) ?? '').replace(/\s+/g, ' ').replaceAll('readonly ', '');
    return [name, type] as const;
  });
}

/** The doc comment directly before a node, on one line. */
function commentBefore(node: ts.Node, source: ts.SourceFile): string {
  const text = source.text.slice(node.getFullStart(), node.getStart(source));
  const before = source.text.slice(0, node.getFullStart()).replace(/\s*\|\s*$/, '');
  const comment = /\/\*\*((?:(?!\*\/).)*)\*\/\s*$/s.exec(`${before}${text}`.replace(/\|\s*$/, ''))?.[1] ?? '';
  return comment
    .replace(/^\s*\* ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}
