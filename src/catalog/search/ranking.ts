/**
 * Every number that shapes the ranking. docs/decisions/0004-tool-search.md says how they were found, and how far to trust them:
 * halved or doubled, most change recall by at most two points; `synonym` changes it by five.
 */
export const RANKING = {
  /** How fast repeated words stop counting (BM25's k1). */
  saturation: 2,
  /** Weight of a word by field, and the penalty for long texts in that field (BM25's b, per field). */
  fields: {
    name: { weight: 4, lengthPenalty: 0.5 },
    title: { weight: 2, lengthPenalty: 0.5 },
    summary: { weight: 2, lengthPenalty: 0.5 },
    details: { weight: 1, lengthPenalty: 0.75 },
    propertyNames: { weight: 0.7, lengthPenalty: 0.75 },
    propertyTexts: { weight: 0.4, lengthPenalty: 0.75 },
    enumValues: { weight: 0.4, lengthPenalty: 0.75 },
  },
  /** The same for the texts of a server. */
  serverFields: {
    identity: { weight: 3, lengthPenalty: 0.5 },
    description: { weight: 1, lengthPenalty: 0.5 },
    toolNames: { weight: 1, lengthPenalty: 0.75 },
  },
  /** The share of its server's score that is added to a tool's own. */
  server: 0.5,
  /** Bonus for a tool if the query has every word of its name, as a share of its score: `list_issues` before `list_issue_types`. */
  fullName: 0.6,
  /** Weight of a synonym, relative to the word itself. */
  synonym: 0.6,
  abbreviation: 0.9,
  /** Weight of a corrected or split word, relative to an exact one. */
  typo: 0.7,
  /** Weight of a path, an address or a quoted value: they are arguments, and only hint at the tool. */
  argument: 0.5,
  number: 0.3,
  /** The parts of a tool's score: its match with the whole query, with its best step, and with the words not answered yet. */
  whole: 0.2,
  step: 0.7,
  fresh: 0.4,
  /** The weight of a step that the query only implies, relative to one it names. */
  implied: 0.6,
  /** The remaining weight of a step or a word once a tool that answers it is chosen. */
  answered: 0.2,
  /** The remaining score of a tool once another server's tool of the same name is chosen: one of them usually suffices. */
  twin: 0.5,
};
