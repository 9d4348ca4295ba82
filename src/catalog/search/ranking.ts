/**
 * Every number that shapes the ranking. docs/decisions/0004-tool-search.md says how they were found, and how far to
 * trust them: halved or doubled, most move recall by two points at most; `synonym` moves it by five.
 */
export const RANKING = {
  /** How fast repeated words stop counting (BM25's k1). */
  saturation: 2,
  /** Weight of a word by where it stands, and how much a long text there is held against it (BM25's b, per field). */
  fields: {
    name: { weight: 4, lengthPenalty: 0.5 },
    title: { weight: 2, lengthPenalty: 0.5 },
    summary: { weight: 2, lengthPenalty: 0.5 },
    details: { weight: 1, lengthPenalty: 0.75 },
    propertyNames: { weight: 0.7, lengthPenalty: 0.75 },
    propertyTexts: { weight: 0.4, lengthPenalty: 0.75 },
    enumValues: { weight: 0.4, lengthPenalty: 0.75 },
  },
  /** The same for what is known of a server. */
  serverFields: {
    identity: { weight: 3, lengthPenalty: 0.5 },
    description: { weight: 1, lengthPenalty: 0.5 },
    toolNames: { weight: 1, lengthPenalty: 0.75 },
  },
  /** How much of its server's score a tool gets on top of its own. */
  server: 0.5,
  /** What a name whose every word was asked for adds to a tool's score, as a share of it: `list_issues` before `list_issue_types`. */
  fullName: 0.6,
  /** What a word of the same meaning counts, against the word itself. */
  synonym: 0.6,
  abbreviation: 0.9,
  /** What a corrected or taken-apart word counts, against one written as the index has it. */
  typo: 0.7,
  /** What a path, an address or a quoted value counts: they are arguments, and only hint at the tool. */
  argument: 0.5,
  number: 0.3,
  /** What a tool's score is made of: its fit to the whole query, to the step it fits best, to the words nobody answered. */
  whole: 0.2,
  step: 0.7,
  fresh: 0.4,
  /** The pull of a step that the query only implies, against one it names. */
  implied: 0.6,
  /** What is left of the pull of a step, or of a word, once a tool that answers it is chosen. */
  answered: 0.2,
  /** What is left of a tool once another server's of the same name is chosen: who needs one of them seldom needs both. */
  twin: 0.5,
};
