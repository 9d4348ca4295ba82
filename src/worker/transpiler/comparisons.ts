import { type BinaryExpression, type Expression, type Node, parse } from 'acorn';

/**
 * Whether a source that is valid in both languages means JavaScript: in `f(a < b, c > (d))`, which TypeScript reads as a call of
 * `a<b, c>`, and in `a < b > (d)`, every name between the brackets is a variable of the program. If one is not (`number`, a class,
 * the name of a type), or if `new` precedes it, it is a list of types. Throws the parser's errors.
 */
export function comparesVariables(source: string): boolean {
  const program = parse(source, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    allowHashBang: true,
    preserveParens: true,
  });
  const { variables, lists, chains } = survey(program);
  const doubtful = [...lists.flatMap(comparisonsIn), ...chains];
  return (
    doubtful.length > 0 && doubtful.every((names) => names.length > 0 && names.every((name) => variables.has(name)))
  );
}

type Fields = Readonly<Record<string, unknown>> & { readonly type: string };

interface Survey {
  /** Every variable of any scope. */
  readonly variables: Set<string>;
  /** Every list of expressions. */
  readonly lists: Expression[][];
  /** The names between the brackets of each `a < b > (d)`. */
  readonly chains: string[][];
}

/** Not recursive: only the parser's own depth counts. */
function survey(program: Node): Survey {
  const variables = new Set<string>();
  const lists: Expression[][] = [];
  const chains: string[][] = [];
  const left: unknown[] = [program];
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    if (Array.isArray(each)) {
      for (const item of each) if (item !== null) left.push(item);
      continue;
    }
    const node = each as Fields;
    if (node.type === 'VariableDeclarator') addNames(node.id as Fields, variables);
    if (node.type === 'CatchClause' && node.param !== null) addNames(node.param as Fields, variables);
    if (Array.isArray(node.params)) for (const each of node.params) addNames(each as Fields, variables);
    const chain = chainOf(each as Expression);
    if (chain !== undefined) chains.push(chain);
    for (const key of ['arguments', 'elements', 'expressions'])
      if (Array.isArray(node[key])) lists.push((node[key] as (Expression | null)[]).filter((item) => item !== null));
    for (const value of Object.values(node)) if (typeof value === 'object' && value !== null) left.push(value);
  }
  return { variables, lists, chains };
}

/** The names that a pattern declares, and those in its defaults, which are variables or globals anyway. */
function addNames(pattern: Fields, names: Set<string>): void {
  const left: unknown[] = [pattern];
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    if (Array.isArray(each)) {
      for (const item of each) if (item !== null) left.push(item);
    } else {
      const { type, name, ...rest } = each as Fields;
      if (type === 'Identifier') names.add(name as string);
      else for (const value of Object.values(rest)) if (typeof value === 'object' && value !== null) left.push(value);
    }
  }
}

/**
 * The names between the brackets of each `a < b, ..., c > (d)` in a list. If an operand is not a name, a name that no variable has
 * stands for it.
 */
function comparisonsIn(list: readonly Expression[]): string[][] {
  const found: string[][] = [];
  for (const [from, first] of list.entries()) {
    if (!isComparison(first, '<')) continue;
    const to = list.findIndex((each, index) => index > from && isComparison(each, '>'));
    const last = list[to];
    if (last === undefined || !isComparison(last, '>') || last.right.type !== 'ParenthesizedExpression') continue;
    found.push(namesIn(first, [first.right, ...list.slice(from + 1, to), last.left] as Expression[]));
  }
  return found;
}

function chainOf(node: Expression): string[] | undefined {
  if (!isComparison(node, '>') || node.right.type !== 'ParenthesizedExpression') return undefined;
  return isComparison(node.left, '<') ? namesIn(node.left, [node.left.right as Expression]) : undefined;
}

/** `first`: the comparison with `<`. After `new` there are types, and no variable has the name that stands for one. */
function namesIn(first: BinaryExpression, operands: readonly Expression[]): string[] {
  const isMade = first.left.type === 'NewExpression';
  const unclear = operands.filter((operand) => operand.type !== 'Literal');
  return unclear.map((operand) => (isMade ? '' : rootName(operand)));
}

function isComparison(node: Expression, operator: string): node is BinaryExpression & { left: Expression } {
  return node.type === 'BinaryExpression' && node.operator === operator;
}

function rootName(node: Expression): string {
  let inner: Node = node;
  while (inner.type === 'MemberExpression' || inner.type === 'ParenthesizedExpression')
    inner =
      (inner as unknown as { object?: Node; expression?: Node }).object ??
      (inner as unknown as { expression: Node }).expression;
  return inner.type === 'Identifier' ? (inner as unknown as { name: string }).name : '';
}
