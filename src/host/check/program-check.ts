import type { CatalogSnapshot } from '../../catalog/snapshot.js';
import type { CallerId, Failure } from '../../domain/run.js';
import type { CompilerDiagnostic, TypeProblem, TypeVerdict } from '../../domain/type-check.js';
import { nearest } from '../../lib/text/nearest.js';
import { NotChecked, type TypeCheckers } from '../../sandbox/checker/type-checkers.js';
import { type CheckedView, checkedFilesOf, inputSchemaOf } from './checked-files.js';
import { judgeDiagnostics } from './judge-diagnostics.js';

export interface CheckedProgram extends CheckedView {
  readonly caller: CallerId;
  readonly source: string;
  /** A person asks: syntax errors are problems too. A run leaves them to its engine. */
  readonly tellsSyntax?: true;
}

/** Compile time grows with the source: larger programs run unchecked. */
const MAX_SOURCE_CHARACTERS = 100_000;

/** The type check verdict of a program. Never rejects. */
export async function checkProgram(checkers: TypeCheckers, program: CheckedProgram): Promise<TypeVerdict> {
  const { caller, source, snapshot } = program;
  if (source.length > MAX_SOURCE_CHARACTERS)
    return { isChecked: false, reason: `the program has more than ${MAX_SOURCE_CHARACTERS} characters` };
  const { missing } = checkers;
  if (missing !== undefined) return { isChecked: false, ...missing };
  try {
    const isBody = program.namespaces !== undefined;
    const text = isBody ? `${BODY_HEAD}${source}${BODY_END}` : source;
    const all = await checkers.check(caller, text, checkedFilesOf(program));
    const told = program.tellsSyntax === true ? all : all.filter(({ isSyntax }) => isSyntax !== true);
    const found = isBody ? told.flatMap((each) => ofBody(each, source)) : told;
    return {
      isChecked: true,
      problems: judgeDiagnostics(
        source,
        found.flatMap((each) => withNearestServer(each, snapshot)),
        (called) => inputSchemaOf(program, called),
        program.namespaces?.map(({ name }) => name),
      ),
    };
  } catch (error) {
    if (error instanceof NotChecked)
      return { isChecked: false, reason: error.message, ...(error.isFailure ? { isFailure: true } : {}) };
    return { isChecked: false, reason: 'its types could not be judged', isFailure: true };
  }
}

/** The compiler rejects a `return` outside a function. The head is on the first line, so that only offsets change. */
const BODY_HEAD = 'export default async () => {';
const BODY_END = '\n}';

function ofBody({ start, end, ...diagnostic }: CompilerDiagnostic, { length }: string): CompilerDiagnostic[] {
  const [from, to] = [start - BODY_HEAD.length, end - BODY_HEAD.length];
  // What a body leaves open is missed behind it.
  if (diagnostic.isSyntax === true && from > length) return [{ ...diagnostic, start: length, end: length }];
  return from < 0 || to > length ? [] : [{ ...diagnostic, start: from, end: to }];
}

/** An unknown server is reported with the nearest name. One that exists, and that the compiler does not find, is not a mistake. */
function withNearestServer(found: CompilerDiagnostic, { serverByPath }: CatalogSnapshot): CompilerDiagnostic[] {
  const path = /^Cannot find module '@codemode\/servers\/(.+)' or/s.exec(found.text)?.[1];
  if (found.code !== NO_MODULE || path === undefined) return [found];
  if (serverByPath.has(path)) return [];
  const [meant] = nearest(path, [...serverByPath.keys()], 1);
  const text = `There is no server '${path}'.${meant === undefined ? '' : ` Did you mean '@codemode/servers/${meant}'?`}`;
  return [{ ...found, text }];
}

const NO_MODULE = 2307;

/** Problems reported together, so that the program can be repaired in one go. */
const MAX_TOLD = 4;

/** The failure of a program that would certainly fail, before it has sent any call. */
export function typeFailure(problems: readonly TypeProblem[]): Failure | undefined {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first, ...others] = errors;
  if (first === undefined) return undefined;
  const more = others.slice(0, MAX_TOLD - 1).map(({ position, message, hint }) => {
    const correction = hint === undefined ? '' : ` ${hint}`;
    return `line ${position.line}, column ${position.column}: ${message}${correction}`;
  });
  const also = more.length === 0 ? '' : ` Also ${more.join(' Also ')}`;
  return {
    kind: 'type',
    name: 'TypeError',
    message: `${first.message}${also}`,
    hint: `${first.hint === undefined ? '' : `${first.hint} `}Nothing was sent. Correct the program and run it again.`,
    position: first.position,
  };
}
