import type { BrokerOutcome } from '../../broker/broker.js';
import type { RunContext } from '../../broker/run-context.js';
import type { CatalogTool } from '../../catalog/snapshot.js';
import type { JsonValue } from '../../domain/json.js';
import type { CallReply } from '../../domain/run.js';
import type { Tool } from '../../domain/tool.js';
import type { ToolReply } from '../../domain/upstream.js';
import type { CalledTool, ProgramNames } from './called-tool.js';

/** How programs of one contract write calls and get answers. */
export interface CallForm {
  /** Renders an outcome as the contract prescribes. */
  readonly present: (outcome: BrokerOutcome) => CallReply;
  /** What the program writes to call a tool; absent: its path and its export name. */
  readonly namesOf?: (tool: CatalogTool) => ProgramNames;
  /** How the contract passes arguments. */
  readonly arrange?: (tool: Tool, input: readonly JsonValue[]) => readonly JsonValue[];
  /** Observes the result type of a tool without a declared output. Absent: nothing is observed. */
  readonly observe?: (tool: Tool, value: JsonValue) => void;
  /** What a program that waits for an earlier run gets of its response; absent: all of it. */
  readonly awaited?: (response: JsonValue) => JsonValue;
}

/** The program that calls: the run's own, or that of a stored script, whose contract may be another. */
export interface CallingProgram {
  readonly run: RunContext;
  readonly form: CallForm;
}

/** Larger answers are not inspected: it would take too long. */
const MAX_OBSERVED_CHARACTERS = 500_000;

/** The tool's name in the program, for errors and approvals. */
export function namedIn({ namesOf }: CallForm, found: CatalogTool): CalledTool {
  return namesOf === undefined ? found : { ...found, ...namesOf(found) };
}

/** Learns the type of an answer, if the contract learns and the answer is not too large. */
export function observe(
  { observe: learn }: CallForm,
  tool: Tool,
  json: string | Uint8Array,
  { structuredContent, structuredJson }: ToolReply,
): void {
  if (learn === undefined || typeof json !== 'string' || json.length > MAX_OBSERVED_CHARACTERS) return;
  // Most contracts give the program the structured content, so it need not be parsed a second time.
  const isContent = structuredContent !== undefined && json === structuredJson;
  learn(tool, isContent ? structuredContent : (JSON.parse(json) as JsonValue));
}
