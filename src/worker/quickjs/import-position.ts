import type { Failure, SourcePosition } from '../../domain/run.js';
import type { PositionMap } from './positions.js';

const MISSING_MODULE = /^could not load module '([^']{0,512})'$/;
const MISSING_EXPORT = /^Could not find export '([^']{0,256})' in module '([^']{0,512})'$/i;
/** How far before a module's name its `import` is searched: a list of a hundred tools is shorter. */
const MAX_CLAUSE_CHARACTERS = 4_000;
const STATEMENT = /(?:^|[;}\n])[ \t]*(?:import|export)\b([^;'"]*)$/;
/** `await import(` directly before the name. */
const EXPRESSION = /\bimport\s*\(\s*$/;
const MAX_GAP_CHARACTERS = 100;
/** Occurrences that are checked. The first one is nearly always the statement that imports it. */
const MAX_OCCURRENCES = 20;

/**
 * Adds the position in the agent's source to an import failure. The engine links modules before anything runs and reports only the
 * missing name, so the position is searched in the code that the engine got.
 */
export function withImportPosition(failure: Failure, code: string, positions: PositionMap): Failure {
  if (failure.kind !== 'import' || failure.position !== undefined) return failure;
  const missing = MISSING_EXPORT.exec(failure.message);
  const specifier = failure.module ?? missing?.[2] ?? MISSING_MODULE.exec(failure.message)?.[1];
  const at = specifier === undefined ? undefined : importOffset(code, specifier, missing?.[1]);
  return at === undefined ? failure : { ...failure, position: positions.original(positionAt(code, at)) };
}

/** The offset of an import that names this module, or this export of it. */
function importOffset(code: string, specifier: string, name: string | undefined): number | undefined {
  let from = 0;
  for (let seen = 0; seen < MAX_OCCURRENCES; seen++) {
    const at = code.indexOf(specifier, from);
    if (at <= 0) return undefined;
    from = at + specifier.length;
    const quote = code[at - 1];
    if ((quote !== '"' && quote !== "'") || code[from] !== quote) continue;
    const before = code.slice(Math.max(0, at - 1 - MAX_CLAUSE_CHARACTERS), at - 1);
    const clause = STATEMENT.exec(before)?.[1];
    if (name === undefined && (clause !== undefined || EXPRESSION.test(before.slice(-MAX_GAP_CHARACTERS))))
      return at - 1;
    if (name === undefined || clause === undefined) continue;
    const inClause = wordIn(clause, name);
    if (inClause >= 0) return at - 1 - clause.length + inClause;
  }
  return undefined;
}

function wordIn(clause: string, name: string): number {
  for (let at = clause.indexOf(name); at >= 0; at = clause.indexOf(name, at + 1)) {
    if (!isWordCharacter(clause[at - 1]) && !isWordCharacter(clause[at + name.length])) return at;
  }
  return -1;
}

function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /[\w$]/.test(character);
}

function positionAt(code: string, offset: number): SourcePosition {
  const before = code.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
