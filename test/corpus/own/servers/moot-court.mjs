import { choice, DESTROYS, fields, flag, list, READS, reference, text, tool, WRITES, whole } from '../build.mjs';

/** A tree of arguments: each may be supported and attacked by others, without end. */
const DEFINITIONS = {
  argument: fields(
    {
      'claim!': text('In one sentence.'),
      'by!': reference('side'),
      sources: list(reference('source')),
      supported_by: list(reference('argument')),
      attacked_by: list(reference('argument')),
    },
    { additionalProperties: false },
  ),
  side: choice(['applicant', 'respondent', 'bench']),
  source: { oneOf: [reference('statute'), reference('precedent'), { type: 'string' }] },
  statute: fields({ 'act!': text(), 'section!': { type: ['string', 'integer'] }, year: whole() }),
  precedent: fields({
    'case!': text(),
    paragraphs: list(whole(undefined, { minimum: 1 })),
    overruled_by: { anyOf: [reference('precedent'), { type: 'null' }] },
  }),
  speaker: fields({
    'name!': text(),
    'side!': reference('side'),
    'minutes!': whole(undefined, { minimum: 1, maximum: 45 }),
  }),
};
const OLD = Object.fromEntries(
  Object.entries(DEFINITIONS).map(([name, schema]) => [
    name,
    JSON.parse(JSON.stringify(schema).replaceAll('#/$defs/', '#/definitions/')),
  ]),
);

/** Only the definitions that a schema reaches, as generators write them. */
const withDefinitions = (schema, definitions = DEFINITIONS, folder = '$defs') => {
  const reached = new Set();
  const visit = (part) => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/(?:\$defs|definitions)\/(\w+)"/g)) {
      if (reached.has(name)) continue;
      reached.add(name);
      visit(definitions[name]);
    }
  };
  visit(schema);
  return { ...schema, [folder]: Object.fromEntries([...reached].sort().map((name) => [name, definitions[name]])) };
};
const DRAFT_7 = { $schema: 'http://json-schema.org/draft-07/schema#' };
const draft7 = (schema) => ({ ...DRAFT_7, ...withDefinitions(schema, OLD, 'definitions') });
const CASE = text('Docket number.', { pattern: '^[0-9]{4}/[0-9]{1,3}$' });

/** References: to `$defs`, to `definitions`, to properties of the same schema, to themselves. */
export const mootCourt = {
  id: 'moot-court',
  server: 'Moot court',
  version: '5.1.0',
  description: 'Cases, arguments and hearings for students of law.',
  tools: [
    tool(
      'file_case',
      'Files a case with its facts and its first argument.',
      withDefinitions(
        fields({ 'title!': text(), 'facts!': text(undefined, { minLength: 20 }), 'opening!': reference('argument') }),
      ),
      { output: fields({ 'docket!': CASE }), hints: WRITES },
    ),
    tool('get_case', 'Gets a case with the whole tree of its arguments.', fields({ 'docket!': CASE }), {
      output: withDefinitions(fields({ 'docket!': CASE, 'title!': text(), 'arguments!': list(reference('argument')) })),
      hints: READS,
    }),
    tool(
      'add_argument',
      'Adds an argument below another one.',
      withDefinitions(
        fields({
          'docket!': CASE,
          'argument!': reference('argument'),
          below: list(whole(undefined, { minimum: 0 }), 'Path from the root: the position at each level.'),
        }),
      ),
      { hints: WRITES },
    ),
    tool(
      'attack_argument',
      'Attacks an argument with a counter-argument.',
      draft7(fields({ 'docket!': CASE, 'path!': list(whole()), 'with!': reference('argument', 'definitions') })),
      { hints: WRITES },
    ),
    tool(
      'withdraw_argument',
      'Takes an argument back, with all that hangs on it.',
      fields({ 'docket!': CASE, 'path!': list(whole(undefined, { minimum: 0 }), undefined, { minItems: 1 }) }),
      { hints: DESTROYS },
    ),
    tool(
      'search_precedents',
      'Searches earlier decisions by the words of their reasons.',
      fields({
        'words!': text(),
        court: choice(['first', 'appeal', 'supreme']),
        not_overruled: flag(undefined, { default: true }),
      }),
      { output: withDefinitions(fields({ 'hits!': list(reference('precedent')) })), hints: READS },
    ),
    tool(
      'search_statutes',
      'Searches acts by title or wording.',
      fields({ 'words!': text(), in_force_in: whole('A year.') }),
      { output: withDefinitions(fields({ 'hits!': list(reference('statute')) })), hints: READS },
    ),
    tool(
      'schedule_hearing',
      'Sets the order of speakers of a hearing.',
      withDefinitions(
        fields({
          'docket!': CASE,
          'at!': text(undefined, { format: 'date-time' }),
          'speakers!': list(reference('speaker'), undefined, { minItems: 2 }),
          rebuttal: { $ref: '#/properties/speakers' },
        }),
      ),
      { hints: WRITES },
    ),
    tool(
      'score_hearing',
      'Gives marks to each speaker.',
      fields(
        { 'docket!': CASE, 'marks!': { type: 'object', additionalProperties: reference('mark', 'definitions') } },
        { ...DRAFT_7, definitions: { mark: whole(undefined, { minimum: 0, maximum: 18 }) } },
      ),
      { hints: WRITES },
    ),
    tool(
      'weak_points',
      'Finds claims that nobody supports.',
      fields(
        { 'docket!': CASE, side: { $ref: '#/$defs/party~1side' } },
        { $defs: { 'party/side': choice(['applicant', 'respondent']) } },
      ),
      { output: withDefinitions(fields({ 'claims!': list(reference('argument')) })), hints: READS },
    ),
    tool(
      'outline',
      'The arguments as an outline, with numbers.',
      fields({ 'docket!': CASE, depth: whole(undefined, { minimum: 1, maximum: 9 }) }),
      { hints: READS },
    ),
    tool(
      'publish_judgment',
      'Publishes the judgment where everybody can read it.',
      withDefinitions(
        fields({
          'docket!': CASE,
          'for!': reference('side'),
          'reasons!': list(reference('argument')),
          dissent: { allOf: [reference('argument')], description: 'Of the minority.' },
        }),
      ),
      { hints: { ...WRITES, openWorldHint: true } },
    ),
    tool(
      'cite_check',
      'Checks that everything cited exists and is in force.',
      withDefinitions(fields({ 'sources!': list(reference('source'), undefined, { minItems: 1, maxItems: 100 }) })),
      { output: fields({ 'missing!': list(whole('Position in the list.')) }), hints: READS },
    ),
  ],
};
