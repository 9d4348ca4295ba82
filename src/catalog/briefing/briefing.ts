import type { CatalogBriefing } from '../../domain/briefing.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { ObservedTypeOf } from '../declarations/typescript/typescript.js';
import { compareCodePoints } from '../names.js';
import type { CatalogSnapshot } from '../snapshot.js';
import { exampleCall } from './example-call.js';
import { parameterIndex } from './parameter-index.js';
import { BRIEF_HEAD, declarationsWithin } from './server-declarations.js';
import { type Measure, serverIndex, type UsedBefore } from './server-index.js';
import { estimateTokens } from './tokens.js';

export interface BriefingOptions {
  /** The token budget of `text`. */
  readonly budgetTokens?: number;
  /** The result types this agent has seen of tools that declare no output. */
  readonly observedTypeOf?: ObservedTypeOf;
  /** The servers it has used before. They come first in an index. */
  readonly usedBefore?: UsedBefore;
}

/**
 * About four real tools with their types, or a line for each of thirty servers. It is read in every session, and fits in the 2,048
 * characters that some clients keep.
 */
export const DEFAULT_BUDGET_TOKENS = 500;

/**
 * The additional tokens for the parameters of functions, if no budget is configured. They keep everything that an agent reads
 * before its first program, schemas included, within 2,500 tokens (`npm run bench -- tokens`). Parameters come last, so that a
 * client that cuts the text loses nothing else. Other clients save the program that would look them up.
 */
const PARAMETER_TOKENS = 50;

/** What an agent is told about these servers: everything that fits. The same text for the same snapshot. */
export function briefCatalog(snapshot: CatalogSnapshot, options: BriefingOptions = {}): CatalogBriefing {
  const { budgetTokens = DEFAULT_BUDGET_TOKENS, usedBefore } = options;
  // By path: the order in which servers started must not change a text that clients cache.
  const servers = [...snapshot.servers].sort((left, right) => compareCodePoints(left.path, right.path));
  const counts = {
    serverCount: servers.length,
    toolCount: servers.reduce((sum, { tools }) => sum + tools.length, 0),
    startingCount: servers.filter(({ isStarting }) => isStarting === true).length,
  };
  const { notice } = snapshot;
  if (servers.length === 0)
    return {
      ...{ level: 'none', ...counts, text: '', parameters: '', estimatedTokens: 0, shortIndex: () => '' },
      ...omitUndefined({ notice }),
    };
  const modules = declarationsWithin(servers, budgetTokens - estimateTokens(BRIEF_HEAD), options.observedTypeOf);
  const index = (most: number, measure: Measure) => serverIndex(servers, most, measure, undefined, usedBefore);
  const text = modules === undefined ? index(budgetTokens, estimateTokens) : `${BRIEF_HEAD}${modules.text}`;
  const isDefault = options.budgetTokens === undefined;
  const parameters =
    modules === undefined && isDefault ? parameterIndex(servers, text, PARAMETER_TOKENS, usedBefore) : '';
  const example = exampleCall(servers);
  return {
    level: modules?.detail ?? 'index',
    ...counts,
    text,
    parameters,
    estimatedTokens: estimateTokens(text),
    shortIndex: (maximumCharacters) => index(maximumCharacters, (each) => each.length),
    ...omitUndefined({ example }),
  };
}
