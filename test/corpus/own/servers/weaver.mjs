import { choice, fields, flag, list, number, READS, text, tool, WRITES, whole } from '../build.mjs';

const DRAFT_7 = { $schema: 'http://json-schema.org/draft-07/schema#' };
const NEW = { $schema: 'https://json-schema.org/draft/2020-12/schema' };
const RGB = { type: 'array', prefixItems: [whole('Red.'), whole('Green.'), whole('Blue.')], items: false, minItems: 3 };
const SIZE = { type: 'array', prefixItems: [number('Width.'), number('Height.')], minItems: 2, maxItems: 2 };
const RUN = {
  type: 'array',
  prefixItems: [text('Thread.'), whole('Times.', { minimum: 1 })],
  items: text('Note.'),
  minItems: 2,
};

/** A pattern inside a motif inside a panel, ten levels down: as drawing programs keep them. */
const nested = (levels) =>
  levels === 0
    ? fields({ 'thread!': text(), 'over!': whole(undefined, { minimum: 1 }), under: whole() })
    : fields({ 'repeat!': whole(undefined, { minimum: 1, maximum: 99 }), part: nested(levels - 1), mirror: flag() });

/** Tuples, open and closed, old and new; and inputs that are nested deeply. */
export const weaver = {
  id: 'weaver',
  server: 'Loom control',
  version: '7.0.0',
  tools: [
    tool(
      'dye_yarn',
      'Dyes yarn in a colour.',
      fields({ 'yarn!': text(), 'colour!': RGB, litres: number(undefined, { minimum: 0.5 }) }, NEW),
      { hints: WRITES },
    ),
    tool(
      'warp_loom',
      'Puts warp threads on the loom.',
      fields({ 'size!': SIZE, 'threads!': list(RUN, undefined, { minItems: 1 }) }, NEW),
      { hints: WRITES },
    ),
    tool(
      'draft_pattern',
      'Stores a weaving draft: threading, tie-up, treadling.',
      fields(
        {
          'name!': text(),
          'threading!': list(whole(undefined, { minimum: 1, maximum: 16 })),
          'tie_up!': list(list(flag())),
          'treadling!': list(list(whole())),
        },
        NEW,
      ),
      {
        output: fields({
          'id!': text(),
          floats: list({ type: 'array', prefixItems: [whole(), whole()], items: false, minItems: 2 }),
        }),
        hints: WRITES,
      },
    ),
    tool('weave_panel', 'Weaves a panel out of parts within parts.', fields({ 'panel!': nested(9) }, NEW), {
      hints: WRITES,
    }),
    tool(
      'nested_motif',
      'Explains a motif that is made of others.',
      fields({ 'motif!': nested(14), language: choice(['en', 'de', 'fi']) }, NEW),
      { hints: READS },
    ),
    tool(
      'old_swatch',
      'Makes a swatch; the input is written as it was in draft-07.',
      fields(
        {
          'swatch!': {
            type: 'array',
            items: [text('Yarn.'), number('Ends a centimetre.')],
            additionalItems: false,
            minItems: 2,
          },
          marks: { type: 'array', items: [text()], additionalItems: whole() },
        },
        DRAFT_7,
      ),
      { hints: WRITES },
    ),
    tool('shuttle_path', 'The way of the shuttle as points.', fields({ 'draft!': text() }), {
      output: {
        ...fields({ 'points!': list({ type: 'array', items: [number(), number()], minItems: 2, maxItems: 2 }) }),
        ...DRAFT_7,
      },
      hints: READS,
    }),
    tool(
      'yarn_needed',
      'How much yarn a draft needs.',
      fields(
        { 'draft!': text(), 'size!': SIZE, waste_percent: number(undefined, { minimum: 0, maximum: 50, default: 12 }) },
        NEW,
      ),
      { output: fields({ 'grams!': { type: 'object', additionalProperties: number() } }), hints: READS },
    ),
    tool(
      'search_drafts',
      'Searches drafts by structure, number of shafts or name.',
      fields(
        {
          words: text(),
          shafts: { type: 'array', prefixItems: [whole(), whole()], items: false, description: 'From, to.' },
          structure: choice(['plain', 'twill', 'satin', 'overshot', 'double']),
        },
        NEW,
      ),
      { hints: READS },
    ),
    tool(
      'pick_history',
      'Picks that were thrown, newest first.',
      fields({ last: whole(undefined, { minimum: 1, maximum: 5000, default: 100 }) }),
      {
        output: fields({
          'picks!': list({
            type: 'array',
            prefixItems: [text(undefined, { format: 'date-time' }), whole(), { type: ['string', 'null'] }],
            items: false,
            minItems: 3,
          }),
        }),
        hints: READS,
      },
    ),
    tool(
      'set_tension',
      'Sets the tension of the warp.',
      fields({
        'newtons!': { type: 'array', items: number(undefined, { minimum: 0.2, maximum: 6 }), minItems: 1, maxItems: 4 },
      }),
      { hints: WRITES },
    ),
    tool(
      'cut_cloth',
      'Cuts the finished cloth off the loom.',
      fields(
        {
          'after_metres!': number(undefined, { exclusiveMinimum: 0 }),
          selvedge: { type: 'array', prefixItems: [{ const: 'left' }, { const: 'right' }] },
        },
        NEW,
      ),
      { hints: { destructiveHint: true } },
    ),
  ],
};
