import { withCatchesWatched } from './catch-clauses.js';
import { comparesVariables } from './comparisons.js';
import { withoutTopLevelReturns } from './top-level-returns.js';

/** The functions that need a syntax tree, and with it a parser that few sources need. */
export const secondParser = { comparesVariables, withCatchesWatched, withoutTopLevelReturns };
