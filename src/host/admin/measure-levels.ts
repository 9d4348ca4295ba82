import { briefingOf, type ToolView } from '../tools/tool-view.js';
import { type TokenReport, TYPED_LEVELS, type WorthVerdict } from './measure.js';

/** One way to describe the tools to an agent: the level of detail, the setting that selects it, and the tokens it costs. */
export interface BriefingChoice {
  readonly level: string;
  /** The `prompt.tokenBudget` that selects this level. */
  readonly tokenBudget: number;
  /** (b) with this setting. */
  readonly tokens: number;
}

/** The range that the configuration accepts for `prompt.tokenBudget`. */
const LEAST_BUDGET = 500;
const MOST_BUDGET = 1_000_000;
const MAX_LEVELS = 6;

/** Every level of detail available for these tools, richest first. `countTold` counts the tokens an agent reads. */
export function briefingChoices(view: ToolView, countTold: (view: ToolView) => number): BriefingChoice[] {
  const choices: BriefingChoice[] = [];
  let most = MOST_BUDGET;
  while (most >= LEAST_BUDGET && choices.length < MAX_LEVELS) {
    const { level, estimatedTokens } = briefingOf({ ...view, promptTokens: most });
    const tokenBudget = Math.min(most, Math.max(LEAST_BUDGET, Math.ceil(estimatedTokens / 100) * 100));
    choices.push({ level, tokenBudget, tokens: countTold({ ...view, promptTokens: tokenBudget }) });
    if (level === 'index' || level === 'none') break;
    most = estimatedTokens - 1;
  }
  return choices;
}

/** Below both thresholds, the contract recommends giving tools to the model directly. */
export const WORTH_TOOLS = 10;
export const WORTH_TOKENS = 10_000;
/** A smaller saving is hardly noticed, and another setting may save more. */
const WORTH_SAVING = 0.25;

/**
 * Whether code mode pays off here, by the contract's thresholds and the counted tokens: with the setting in force, or else with the
 * richest setting that is worth it.
 */
export function judge(report: TokenReport, choices: readonly BriefingChoice[]): WorthVerdict {
  const { tools, definitions, catalog, perServer } = report;
  if (tools < WORTH_TOOLS && definitions <= WORTH_TOKENS) {
    const few = `you have ${tools} ${tools === 1 ? 'tool' : 'tools'} with ${definitions} tokens of definitions`;
    const reason = `${few}, fewer than ${WORTH_TOOLS} tools and ${WORTH_TOKENS} tokens: give them to the model directly`;
    return { isWorthIt: false, reason };
  }
  // A task uses at least one server. Its types come with the first answer and are read too, unless all types were given up front.
  const added = (level: string) => (TYPED_LEVELS.has(level) ? 0 : perServer);
  const read = catalog + added(report.level);
  const all = choices.map((choice) => ({ ...choice, tokens: choice.tokens + added(choice.level) }));
  const saving = (tokens: number) => 1 - tokens / definitions;
  const percent = (tokens: number) => `${(100 * saving(tokens)).toFixed(1)} % less`;
  const with1 = read === catalog ? '' : ` with the types of one server (${perServer})`;
  const reads = `an agent reads ${read} tokens${with1} instead of ${definitions}`;
  if (saving(read) >= WORTH_SAVING) return { isWorthIt: true, reason: `${reads}: ${percent(read)}` };
  const better = betterThan(read, all, (tokens) => saving(tokens) >= WORTH_SAVING);
  if (better !== undefined && better.tokens < definitions) {
    const { level, tokenBudget, tokens } = better;
    const now = read < definitions ? `${read} (${percent(read)})` : `${read}, which saves nothing`;
    const reason = `with prompt.tokenBudget: ${tokenBudget} (${level}) an agent reads ${tokens} tokens instead of ${definitions}: ${percent(tokens)}. With your configuration it reads ${now}`;
    return { isWorthIt: true, reason, setting: { 'prompt.tokenBudget': tokenBudget } };
  }
  if (read < definitions) return { isWorthIt: true, reason: `${reads}: ${percent(read)}` };
  const reason = `an agent reads ${read} tokens here${with1} and ${definitions} without, and no prompt.tokenBudget changes that: it saves nothing before large results are filtered`;
  return { isWorthIt: false, reason };
}

/** The richest choice that is worth it. If there is none, the cheapest choice, if it costs less than the current one. */
function betterThan(
  catalog: number,
  choices: readonly BriefingChoice[],
  isWorthIt: (tokens: number) => boolean,
): BriefingChoice | undefined {
  const richest = choices.find(({ tokens }) => isWorthIt(tokens));
  if (richest !== undefined) return richest;
  const [least] = [...choices].sort((left, right) => left.tokens - right.tokens);
  return least !== undefined && least.tokens < catalog ? least : undefined;
}
