import { type CatalogSnapshot, type CatalogTool, toolNamed } from '../../catalog/snapshot.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { UndoRule, UndoState } from '../../domain/undo.js';
import { findServer } from '../tools/discovery.js';
import { inverseArguments } from './inverse-arguments.js';
import type { RecordedAnswer } from './recorded-answers.js';

/** One call of a run, and whether it can be undone. */
export interface UndoStep {
  readonly call: number;
  /** `server/tool`. */
  readonly tool: string;
  readonly arguments: JsonValue;
  /**
   * - `ready`: it can be undone now
   * - `undone`: it was undone
   * - `nothing`: it changed nothing, because it only reads or it failed
   * - `impossible`: it cannot be undone, or it is unknown whether it was
   */
  readonly state: 'ready' | 'undone' | 'nothing' | 'impossible';
  /** Why it is in that state. */
  readonly why: string;
  readonly inverse?: InverseCall;
}

export interface InverseCall {
  readonly found: CatalogTool;
  readonly tool: string;
  readonly arguments: JsonObject;
}

export interface UndoFacts {
  readonly rules: readonly UndoRule[];
  readonly snapshot: CatalogSnapshot;
  readonly states: ReadonlyMap<number, UndoState>;
}

/** The undo steps for these calls, last call first. */
export function planUndo(answers: readonly RecordedAnswer[], facts: UndoFacts): UndoStep[] {
  return answers.map((answer) => stepOf(answer, facts)).reverse();
}

function stepOf(answer: RecordedAnswer, { rules, snapshot, states }: UndoFacts): UndoStep {
  const server = findServer(answer.server, snapshot);
  const own = server && toolNamed(answer.tool, server);
  const id = own === undefined ? `${answer.server}/${answer.tool}` : `${own.server.id}/${own.tool.name}`;
  const step = { call: answer.call, tool: id, arguments: answer.input ?? {} };
  const is = (state: UndoStep['state'], why: string): UndoStep => ({ ...step, state, why });
  const done = states.get(answer.call);
  if (done === 'undone') return is('undone', 'it was undone');
  if (done === 'begun') return is('impossible', 'undoing it was begun, and the outcome is unknown; check it yourself');
  if (done === 'unknown') return is('impossible', 'the record of undoing it was changed; check it yourself');
  if (answer.outcome === 'failed') return is('nothing', 'it failed');
  const rule = rules.find(({ tool }) => tool === id);
  if (rule === undefined) {
    if (own?.tool.annotations?.readOnlyHint === true) return is('nothing', 'its server says that it only reads');
    return is('impossible', `no rule of policy.undo covers ${id}`);
  }
  if (answer.outcome === 'unknown') return is('impossible', 'its outcome is unknown; check it yourself');
  const inverse = inverseOf(rule, id, snapshot);
  if (typeof inverse === 'string') return is('impossible', inverse);
  const made = inverseArguments(rule.arguments, { arguments: answer.input ?? {}, result: answer.result ?? null });
  if ('missing' in made) return is('impossible', `${made.missing} of policy.undo is not in the call`);
  const again = done === 'failed' ? ', which failed the last time' : '';
  const tool = `${inverse.server.id}/${inverse.tool.name}`;
  return { ...is('ready', `by ${tool}${again}`), inverse: { found: inverse, tool, arguments: made.arguments } };
}

/** The tool that undoes the call, or why there is none. */
function inverseOf(rule: UndoRule, of: string, snapshot: CatalogSnapshot): CatalogTool | string {
  const slash = rule.with.indexOf('/');
  const serverId = slash < 1 ? of.slice(0, of.indexOf('/')) : rule.with.slice(0, slash);
  const name = slash < 1 ? rule.with : rule.with.slice(slash + 1);
  const found = snapshot.servers.find(({ id }) => id === serverId)?.tools.find(({ tool }) => tool.name === name);
  return found ?? `there is no tool ${serverId}/${name}, which policy.undo names`;
}
