import { type LabeledStatement, type Node, type Program, parse, type ReturnStatement, type Statement } from 'acorn';

/** A replaced piece of source. The inserted text has no line break. */
export interface Edit {
  readonly at: number;
  readonly removed: number;
  readonly inserted: string;
  /** The position in the source that everything inside it maps to. */
  readonly means: number;
}

/**
 * Rewrites a script with `return` at its top level: its statements become a labelled block, and a `return` becomes the value of
 * that block and a `break` out of it. Everything else keeps its meaning: `break` runs the same `finally`, closes the same
 * iterators, and variables remain the script's. As a function body the script would have no value if no `return` is reached.
 *
 * This is not a security control: only the agent's own code runs either way. Throws the parser's errors.
 */
export function withoutTopLevelReturns(source: string): { readonly code: string; readonly edits: readonly Edit[] } {
  const program = parse(source, {
    ecmaVersion: 'latest',
    sourceType: 'script',
    allowReturnOutsideFunction: true,
    allowHashBang: true,
    preserveParens: true,
  });
  const { returns, labels } = survey(program);
  let label = '$script';
  while (labels.has(label)) label += '$';
  // After the directives, otherwise `'use strict'` would no longer be a directive.
  const first = program.body.find((each) => !('directive' in each));
  if (returns.length === 0 || first === undefined) return { code: source, edits: [] };
  const edits = [
    { at: first.start, removed: 0, inserted: `${label}:{`, means: first.start },
    ...returns.flatMap((each) => replacementOf(each, source, label)),
  ].sort((one, other) => one.at - other.at);
  // On its own line: the source may end in a comment.
  return { code: `${applied(source, edits)}\n}`, edits };
}

const KEYWORD = 'return'.length;

function replacementOf({ start, end, argument }: ReturnStatement, source: string, label: string): Edit[] {
  const leave = `;break ${label}}`;
  const edits: Edit[] =
    argument === null || argument === undefined
      ? [{ at: start, removed: KEYWORD, inserted: `{void 0${leave}`, means: start }]
      : [
          // With spaces: if tokens are adjacent, the engine may report the first as the position of an error.
          { at: start, removed: KEYWORD, inserted: '{    (', means: argument.start },
          { at: argument.end, removed: 0, inserted: `)${leave}`, means: argument.end },
        ];
  // An empty statement after the block would separate an `if` from its `else`.
  if (source[end - 1] === ';') edits.push({ at: end - 1, removed: 1, inserted: ' ', means: end });
  return edits;
}

function applied(source: string, edits: readonly Edit[]): string {
  let code = '';
  let from = 0;
  for (const { at, removed, inserted } of edits) {
    code += source.slice(from, at) + inserted;
    from = at + removed;
  }
  return code + source.slice(from);
}

/** Every statement outside functions. Not recursive: only the parser's own depth counts. */
function survey(program: Program): { returns: ReturnStatement[]; labels: Set<string> } {
  const returns: ReturnStatement[] = [];
  const labels = new Set<string>();
  const left: Node[] = [...program.body];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (node.type === 'ReturnStatement') returns.push(node as ReturnStatement);
    if (node.type === 'LabeledStatement') labels.add((node as LabeledStatement).label.name);
    for (const inner of statementsIn(node as Statement)) left.push(inner);
  }
  return { returns, labels };
}

function statementsIn(node: Statement): readonly Node[] {
  switch (node.type) {
    case 'BlockStatement':
      return node.body;
    case 'IfStatement':
      return node.alternate ? [node.consequent, node.alternate] : [node.consequent];
    case 'TryStatement':
      return [node.block, ...(node.handler ? [node.handler.body] : []), ...(node.finalizer ? [node.finalizer] : [])];
    case 'SwitchStatement':
      return node.cases.flatMap((each) => each.consequent);
    case 'ForStatement':
    case 'ForInStatement':
    case 'ForOfStatement':
    case 'WhileStatement':
    case 'DoWhileStatement':
    case 'LabeledStatement':
    case 'WithStatement':
      return [node.body];
    default:
      return [];
  }
}
