import { choice, DESTROYS, fields, flag, list, number, READS, text, tool, WRITES, whole } from '../build.mjs';

/** Sixteen families in seven cuts: a list of allowed values as long as catalogues have them. */
const FAMILIES = [
  'Alder',
  'Birch',
  'Cedar',
  'Dogwood',
  'Elm',
  'Fir',
  'Ginkgo',
  'Hazel',
  'Ivy',
  'Juniper',
  'Larch',
  'Maple',
  'Oak',
  'Poplar',
  'Rowan',
  'Spruce',
];
const CUTS = ['Book', 'Bold', 'Italic', 'Caps', 'Narrow', 'Wide', 'Titling'];
const TYPEFACES = FAMILIES.flatMap((family) => CUTS.map((cut) => `${family} ${cut}`));

const INK = {
  oneOf: [
    fields(
      { 'kind!': { const: 'spot' }, 'code!': text('Number in the swatch book.', { pattern: '^[0-9]{3,4}$' }) },
      { additionalProperties: false },
    ),
    fields(
      {
        'kind!': { const: 'mixed' },
        'parts!': list(
          fields({ 'colour!': text(), 'share!': number(undefined, { minimum: 0, maximum: 1 }) }),
          undefined,
          { minItems: 2 },
        ),
      },
      { additionalProperties: false },
    ),
    fields({ 'kind!': { const: 'blind' }, depth: choice(['light', 'deep']) }, { additionalProperties: false }),
  ],
  description: 'A spot colour, a mixture, or no ink at all.',
};
const PAPER = fields({
  'name!': text(),
  grams: whole('Per square metre.', { enum: [90, 120, 160, 220, 300, 600] }),
  'deckle!': flag('Whether the edges are torn.'),
});
const JOB_ID = text('Written on the job ticket.', { pattern: '^J[0-9]{5}$' });

/** An id with a space and capitals, unions told apart by a constant, enumerations large and of numbers. */
export const letterpress = {
  id: 'Letterpress Studio',
  server: 'Letterpress Studio',
  version: '0.9.1',
  tools: [
    tool(
      'set_type',
      'Sets a line of metal type and says how wide it came out.',
      fields({
        'line!': text('What is to be set.', { minLength: 1, maxLength: 200 }),
        'typeface!': choice(TYPEFACES, 'One of the cases in the shop.'),
        letter_spacing: number('In points.', { minimum: -1, maximum: 6, default: 0 }),
      }),
      { output: fields({ 'width_points!': number(), missing_sorts: list(text()) }), hints: WRITES },
    ),
    tool(
      'find_typeface',
      'Finds cases of type by family, size or mood.',
      fields({ 'mood!': text('For example: sober, festive, narrow.'), points: { enum: [8, 12, 24, 48] } }),
      { hints: READS },
    ),
    tool(
      'mix_ink',
      'Mixes ink for a job and keeps the recipe.',
      fields({ 'job!': JOB_ID, 'ink!': INK, grams: number('How much.', { minimum: 5, maximum: 2000 }) }),
      { hints: WRITES },
    ),
    tool(
      'open_job',
      'Opens a job ticket for a customer.',
      fields({
        'customer!': text(),
        'copies!': whole(undefined, { minimum: 1, maximum: 5000 }),
        'paper!': PAPER,
        inks: list(INK, undefined, { maxItems: 4 }),
        due: text(undefined, { format: 'date' }),
      }),
      { output: fields({ 'job!': JOB_ID, estimate_hours: number() }), hints: WRITES },
    ),
    tool(
      'proof_job',
      'Pulls one proof and lists what the eye should check.',
      fields({ 'job!': JOB_ID, side: choice(['front', 'back', 'both'], undefined, { default: 'front' }) }),
      { hints: WRITES },
    ),
    tool(
      'print_job',
      'Prints all copies of a job. Takes hours, uses paper, cannot be undone.',
      fields({ 'job!': JOB_ID, 'proof_was_seen!': { const: true } }),
      { hints: { ...DESTROYS, title: 'Print for real' } },
    ),
    tool('job_status', 'How far a job is, and who has it in hand.', fields({ 'job!': JOB_ID }), {
      output: fields({
        'state!': choice(['open', 'proofed', 'printing', 'drying', 'packed', 'collected']),
        'copies_done!': whole(undefined, { minimum: 0 }),
        hand: { type: ['string', 'null'] },
      }),
      hints: READS,
    }),
    tool(
      'search_jobs',
      'Searches old jobs by customer, paper or wording.',
      fields({
        'words!': text(),
        year: whole(undefined, { minimum: 1950, maximum: 2100 }),
        sort: choice(['newest', 'oldest', 'copies']),
      }),
      { hints: READS },
    ),
    tool(
      'order_paper',
      'Orders paper from the mill.',
      fields({
        'paper!': PAPER,
        'sheets!': whole(undefined, { minimum: 100, multipleOf: 100 }),
        express: flag(undefined, { default: false }),
      }),
      { hints: { ...WRITES, openWorldHint: true } },
    ),
    tool(
      'paper_stock',
      'How many sheets of each paper are on the shelves.',
      fields({ grams: { type: 'integer', enum: [90, 120, 160, 220, 300, 600] } }),
      {
        output: fields({ 'sheets!': { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } } }),
        hints: READS,
      },
    ),
    tool(
      'price_of',
      'Works out what a job would cost.',
      fields({
        'copies!': whole(undefined, { minimum: 1 }),
        'paper!': PAPER,
        'inks!': list(INK),
        discount: { enum: [0, 5, 10, 'friend', null] },
      }),
      {
        output: fields(
          {
            'net!': number(),
            'lines!': list({ type: 'array', items: [text(), number()], additionalItems: false, minItems: 2 }),
          },
          { $schema: 'http://json-schema.org/draft-07/schema#' },
        ),
        hints: READS,
      },
    ),
    tool('distribute_type', 'Puts the type of a finished job back into its cases.', fields({ 'job!': JOB_ID }), {
      hints: WRITES,
    }),
    tool(
      'melt_sorts',
      'Melts worn letters down. They are gone afterwards.',
      fields({ 'typeface!': choice(TYPEFACES), 'letters!': text('Which ones.', { minLength: 1 }) }),
      { hints: DESTROYS },
    ),
    tool(
      'send_invoice',
      'Sends the invoice of a job to its customer by e-mail.',
      fields({
        'job!': JOB_ID,
        'address!': text(undefined, { format: 'email' }),
        copy_to: list(text(undefined, { format: 'email' }), undefined, { maxItems: 5, uniqueItems: true }),
      }),
      { hints: { ...WRITES, openWorldHint: true } },
    ),
  ],
};
