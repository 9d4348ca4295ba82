import { approximateTokens } from '../../catalog/briefing/tokens.js';
import { briefingLevel, type ToolView } from '../tools/tool-view.js';
import { definitionJson, MOST_PER_SERVER, perServerTokens, TYPED_LEVELS } from './measure.js';

/** What a model reads before its first call, in tokens. */
export interface BreakEven {
  /** All tool definitions, if the model calls tools itself. Above the break-even this is a lower bound. */
  readonly definitions: number;
  /** The code mode texts, plus the types of one server if types come later. */
  readonly codeMode: number;
  /** Whether direct tools cost no more than code mode. */
  readonly isBelow: boolean;
}

/**
 * Whether these tools cost less to read than the code mode texts about them. The tokens are counted, because a schema may have ten
 * tokens or ten thousand. `view` has the tools for code. `told` is every text that a model gets at the start.
 */
export function breakEvenOf(view: ToolView, told: readonly string[]): BreakEven {
  const direct = sum(view.direct.map(({ tool }) => approximateTokens(definitionJson(tool))));
  const read = direct + sum(told.map(approximateTokens));
  let definitions = direct;
  for (const { tools } of view.forCode.servers)
    for (const tool of tools) {
      definitions += approximateTokens(definitionJson(tool));
      // A large catalog is not counted completely: each first tool list would wait for it.
      if (definitions > read + MOST_PER_SERVER) return { definitions, codeMode: read, isBelow: false };
    }
  const codeMode = read + (TYPED_LEVELS.has(briefingLevel(view)) ? 0 : perServerTokens(view));
  return { definitions, codeMode, isBelow: definitions <= codeMode };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
