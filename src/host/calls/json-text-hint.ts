import type { ProfileNeeds } from '../../domain/profile-name.js';
import type { Outcome } from '../../domain/run.js';
import { visibleLine } from '../../lib/text/visible-text.js';
import type { ToolView } from '../tools/tool-view.js';
import type { TraceEntry } from './tool-trace.js';

/** The start of a JSON string that contains an object or a list; scripts get it in an envelope. */
const JSON_TEXT = /^(?:\{"ok":true,"result":)?"(?:\\n|\s){0,10}[[{]/;

/** How a kind of program parses a text, and how it is seen that it does. JSON itself reaches bodies and scripts parsed. */
const PARSING: Readonly<Partial<Record<ProfileNeeds['program'], { readonly seen: RegExp; readonly hint: string }>>> = {
  module: {
    seen: /\bJSON\s*\.\s*parse\b|@codemode\/text/,
    hint: "parse it with: import { parse } from '@codemode/text'",
  },
  body: { seen: /\bparse\s*\(/, hint: 'parse(text) gives its data' },
  script: { seen: /\bparse\s*\(/, hint: 'parse(res) gives its data, where res is what call_tool returned' },
};

/** Whether a program got text that looks like JSON and may have expected the parsed value. */
export function isJsonText(replyJson: string | Uint8Array): boolean {
  return typeof replyJson === 'string' && JSON_TEXT.test(replyJson.slice(0, 60));
}

/** Kinds of text that hold data, by tool: `CSV text` of `crm/export`. */
export type TextTools = ReadonlyMap<string, string>;

/** The tools of the program that were seen to answer with a text that `parse` reads, now or earlier. */
export function textToolsOf(
  trace: readonly TraceEntry[],
  jsonTexts: ReadonlySet<string>,
  { forCode, observedTypeOf }: Pick<ToolView, 'forCode' | 'observedTypeOf'>,
): TextTools {
  const found = new Map<string, string>();
  for (const { serverId, toolName, ok } of trace) {
    const name = visibleLine(`${serverId}/${toolName}`);
    if (!ok || found.has(name) || found.size >= MAX_NAMED) continue;
    const tool = forCode.serverByPath.get(serverId)?.tools.find((each) => each.tool.name === toolName)?.tool;
    const kind = tool === undefined ? undefined : OBSERVED_TEXT.exec(observedTypeOf?.(tool) ?? '')?.[1];
    if (kind !== undefined) found.set(name, kind);
  }
  for (const name of jsonTexts) if (!found.has(name) && found.size < MAX_NAMED) found.set(name, 'JSON text');
  return found;
}

/** The whole observed type is a text, whose comment begins with its kinds: see `type-text.ts`. */
const OBSERVED_TEXT = /^\/\*\* ((?:JSON|Python|CSV|Markdown)[\w ]{0,100}?)(?: of: [\s\S]*|,[^*]*)? \*\/ string$/;
const MAX_NAMED = 3;

/** A program that uses a text as if it were its data fails with a TypeError. The hint names the tools and how to parse the text. */
export function withTextHint(
  outcome: Outcome,
  source: string,
  tools: () => TextTools,
  program: ProfileNeeds['program'] = 'module',
): Outcome {
  if (outcome.status !== 'failed') return outcome;
  const { failure } = outcome;
  const parsing = PARSING[program];
  if (failure.name !== 'TypeError' || failure.hint !== undefined || parsing === undefined) return outcome;
  if (outcome.unawaited !== undefined || parsing.seen.test(source)) return outcome;
  const named = [...tools()].map(([name, kind]) => `${name} returns ${kind}`);
  if (named.length === 0) return outcome;
  return { ...outcome, failure: { ...failure, hint: `${named.join(' and ')}: ${parsing.hint}` } };
}

/** `listTools` gives a list, `searchTools` an object with one: agents take the second for the first. */
export function withSearchHint(outcome: Outcome, source: string): Outcome {
  if (outcome.status !== 'failed' || !/\bsearchTools\s*\(/.test(source)) return outcome;
  const { failure } = outcome;
  const isMeant = failure.name === 'TypeError' && failure.hint === undefined && LIST_METHOD.test(failure.message);
  if (!isMeant || /\bresults\b/.test(source)) return outcome;
  const hint = 'searchTools gives { query, results }: write (await searchTools(...)).results';
  return { ...outcome, failure: { ...failure, hint } };
}

const LIST_METHOD =
  /\b(?:map|filter|find|flatMap|slice|some|every|forEach|reduce|join|at)(?:'|`)? is not a function$|not iterable$/;
