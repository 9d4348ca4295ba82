import { type CatchClause, type Node, parse } from 'acorn';

/**
 * Adds a call of the function `name`, with the caught value, at the start of each `catch` clause of a module. Lines keep their
 * numbers. Undefined if a clause destructures its value before a statement could see it. Throws the parser's errors.
 */
export function withCatchesWatched(source: string, name: string): string | undefined {
  const program = parse(source, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true });
  const clauses = clausesIn(program).sort((one, other) => other.body.start - one.body.start);
  let code = source;
  for (const { param, body } of clauses) {
    if (param === null || param === undefined) continue;
    if (param.type !== 'Identifier') return undefined;
    const at = body.start + 1;
    code = `${code.slice(0, at)}${name}(${param.name});${code.slice(at)}`;
  }
  return code;
}

/** Not recursive: only the parser's own depth counts. */
function clausesIn(program: Node): CatchClause[] {
  const found: CatchClause[] = [];
  const left: unknown[] = [program];
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    if (typeof each !== 'object' || each === null) continue;
    if ((each as Node).type === 'CatchClause') found.push(each as CatchClause);
    for (const value of Object.values(each)) if (typeof value === 'object' && value !== null) left.push(value);
  }
  return found;
}
