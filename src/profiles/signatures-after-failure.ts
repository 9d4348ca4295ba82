import type { Outcome } from '../domain/run.js';
import type { TraceEntry } from '../host/calls/tool-trace.js';
import type { Session } from '../host/session.js';
import { type CatalogTool, signatureOf, type ToolView } from '../host/tools/tool-view.js';
import { lostInResult } from './lost-values.js';

/** Limit for all tools of one answer. The rest follows with a later answer. */
const MAX_CHARACTERS = 2_400;

/** The names that a program writes to call a tool. */
export interface WrittenNames {
  server(tool: CatalogTool, view: ToolView): string;
  tool(tool: CatalogTool, view: ToolView): string;
}

/**
 * The signatures of tools that a program used without success, one line for each server: if it failed in its own code, or its
 * result lacks an expected value. A session gets each tool once.
 */
export class SignaturesAfterFailure {
  readonly #told = new WeakMap<Session, Set<string>>();

  linesFor(session: Session, outcome: Outcome, trace: readonly TraceEntry[], names: WrittenNames): string[] {
    if (!isPuzzled(outcome)) return [];
    const view = session.tools();
    const told = this.#told.get(session) ?? new Set();
    this.#told.set(session, told);
    const lines = new Map<string, string[]>();
    let left = MAX_CHARACTERS;
    for (const entry of trace) {
      const tool = view.forCode.toolByTarget.get(`${entry.serverId}/${entry.toolName}`);
      if (tool === undefined || !isAnswered(entry)) continue;
      const signature = signatureOf(tool, names.tool(tool, view), view);
      // Programs in another language write another name.
      if (told.has(signature)) continue;
      left -= signature.length + 2;
      if (left < 0) break;
      told.add(signature);
      const server = names.server(tool, view);
      lines.set(server, [...(lines.get(server) ?? []), signature]);
    }
    return [...lines].map(([server, signatures]) => `types: ${server}: ${signatures.join('; ')}`);
  }
}

/** The types of a call that was stopped by an approval or a credential explain nothing. */
function isAnswered({ ok, error = '' }: TraceEntry): boolean {
  return ok || error.startsWith('SchemaValidationError');
}

function isPuzzled(outcome: Outcome): boolean {
  if (outcome.status === 'completed') return lostInResult(outcome) !== undefined;
  return outcome.failure.kind === 'exception' || outcome.failure.kind === 'not_serializable';
}
