import type { CatalogSnapshot } from '../../catalog/snapshot.js';
import type { CallerId, Failure, Outcome } from '../../domain/run.js';
import type { ScriptHead } from '../../domain/script.js';
import type { TypeProblem, TypeVerdict } from '../../domain/type-check.js';
import type { TypeCheckers } from '../../sandbox/checker/type-checkers.js';
import type { RunRequest, RunSummary } from '../runs/run-types.js';
import type { ToolView } from '../tools/tool-view.js';
import { namedNamespaces } from './named-namespaces.js';
import { type CheckedProgram, checkProgram } from './program-check.js';
import { UNKNOWN_PROPERTY } from './tool-arguments.js';
import { TypeCheckGate } from './type-check-gate.js';

/** What a program may import: tools, and the stored scripts that it names. */
export interface SeenByProgram {
  readonly view: ToolView;
  readonly scripts: readonly ScriptHead[];
}

const DISABLED: TypeVerdict = { isChecked: false, reason: 'it is disabled (check.types: off)' };
/** The compiler's numbers for an import of a name that the module does not have. */
const NO_EXPORT: ReadonlySet<number> = new Set([2305, 2724]);
const CALLS_MEMBERS = /\bmcp\b/;
const CALLS_FROM_NODE = /["']\.\/servers\//;
const CALLS_TOOLS = /@codemode\/(?:servers\/|scripts\b)/;

/** Type-checks a session's programs. If it cannot, it says so once. */
export class SessionTypeCheck {
  readonly #caller: CallerId;
  /** The declarations that programs of the contract see besides their tools; absent if they are not checked. */
  readonly #library: string | undefined;
  /** Programs are function bodies. */
  readonly #isBody: boolean;
  #saidUnchecked = false;

  constructor(caller: CallerId, library: string | undefined, isBody: boolean) {
    this.#caller = caller;
    this.#library = library;
    this.#isBody = isBody;
  }

  /** The type check verdict of a module. Nothing is run. */
  async check(
    types: TypeCheckers | undefined,
    source: string,
    viewOf: () => Promise<SeenByProgram>,
  ): Promise<TypeVerdict> {
    const library = this.#library;
    if (types === undefined) return DISABLED;
    if (library === undefined) return { isChecked: false, reason: 'programs of this contract are not checked' };
    return checkProgram(types, { ...this.#checked(source, await viewOf(), library), tellsSyntax: true });
  }

  /** Checks a program in parallel with its start. Only modules that name servers are checked. */
  gateFor(types: TypeCheckers | undefined, request: RunRequest, seen: SeenByProgram): TypeCheckGate | undefined {
    const library = this.#library;
    const { source, script } = request;
    if (types === undefined || types.missing !== undefined || library === undefined) return undefined;
    const callsTools = this.#isBody ? CALLS_MEMBERS : CALLS_TOOLS;
    if (script !== undefined || !callsTools.test(source)) return undefined;
    return new TypeCheckGate(checkProgram(types, this.#checked(source, seen, library)));
  }

  /** Why a Node program must not start, if so. Its types are checked before it starts: it cannot be stopped in the middle of a turn. */
  async refusalOfNode(
    types: TypeCheckers | undefined,
    source: string,
    { forCode: snapshot }: ToolView,
  ): Promise<Failure | undefined> {
    if (types === undefined || types.missing !== undefined || !CALLS_FROM_NODE.test(source)) return undefined;
    const gate = new TypeCheckGate(checkProgram(types, this.#ofNode(source, snapshot)));
    await gate.opened();
    return gate.failure;
  }

  /** The same as a verdict, for people who ask. */
  async checkNode(types: TypeCheckers | undefined, source: string, { forCode }: ToolView): Promise<TypeVerdict> {
    if (types === undefined) return DISABLED;
    const verdict = await checkProgram(types, { ...this.#ofNode(source, forCode), tellsSyntax: true });
    if (!verdict.isChecked) return verdict;
    // Node itself refuses such an import before the program begins, so a run leaves it to Node.
    const problems = verdict.problems.map((each) =>
      NO_EXPORT.has(each.code) ? { ...each, severity: 'error' as const } : each,
    );
    return { isChecked: true, problems };
  }

  #ofNode(source: string, snapshot: CatalogSnapshot): CheckedProgram {
    return { caller: this.#caller, source, snapshot, library: '', scripts: [] };
  }

  #checked(source: string, { view, scripts }: SeenByProgram, library: string): CheckedProgram {
    const { forCode: snapshot, observedTypeOf } = view;
    const program = { caller: this.#caller, source, snapshot, library, observedTypeOf, scripts };
    return this.#isBody ? { ...program, namespaces: namedNamespaces(source, snapshot) } : program;
  }

  /** The type news for the answer: warnings that may explain a failure, and once that programs are not checked. */
  newsOf(gate: TypeCheckGate | undefined, outcome: Outcome): Pick<RunSummary, 'typeWarnings' | 'typesUnchecked'> {
    if (gate === undefined) return {};
    const { problem, warnings } = gate;
    const isNew = problem !== undefined && !this.#saidUnchecked;
    this.#saidUnchecked ||= isNew;
    const failure = outcome.status === 'failed' ? outcome.failure : undefined;
    const explaining = failure?.kind === 'exception' ? warnings.filter(mayExplain(failure.errorClass)) : [];
    return {
      ...(explaining.length > 0 ? { typeWarnings: explaining } : {}),
      ...(isNew ? { typesUnchecked: problem } : {}),
    };
  }
}

/** A property that a tool does not know may be why it failed. Other failed calls explain themselves. */
function mayExplain(errorClass: string | undefined): (warning: TypeProblem) => boolean {
  return ({ code }) => errorClass === undefined || (errorClass === 'ToolCallError' && UNKNOWN_PROPERTY.has(code));
}
