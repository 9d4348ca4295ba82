import {
  choice,
  crud,
  DESTROYS,
  fields,
  flag,
  kebab,
  list,
  number,
  READS,
  text,
  tool,
  WRITES,
  whole,
} from '../build.mjs';

const FREE = { type: 'object', additionalProperties: true };
const PUPPET = {
  'name!': text('On stage.'),
  strings: whole('None for a glove puppet.', { minimum: 0, maximum: 24 }),
  wardrobe: { type: 'object', additionalProperties: text('Where it hangs.') },
  joints: { type: 'object', additionalProperties: fields({ 'bends!': flag(), degrees: number() }) },
  anything: FREE,
};
const CUE = fields({
  'at-second!': number(undefined, { minimum: 0 }),
  'do!': text(),
  lamps: {
    type: 'object',
    propertyNames: { pattern: '^lamp-[0-9]+$' },
    additionalProperties: whole('Per cent.', { minimum: 0, maximum: 100 }),
  },
});

/** Objects whose keys nobody knows before: every form of `additionalProperties`, patterns and rules for names. */
export const puppetTheatre = {
  id: 'puppet-theatre',
  server: 'Puppet theatre',
  version: '1.1.1',
  tools: [
    ...crud({
      one: 'puppet',
      many: 'puppets',
      about: 'a puppet, with its wardrobe and its joints',
      fields: PUPPET,
      nameTool: kebab,
      hasHints: false,
    }),
    tool(
      'move-puppet',
      'Moves the joints of a puppet; those that are not named stay.',
      fields({
        'puppet!': text(),
        'to!': {
          type: 'object',
          additionalProperties: { type: 'number', minimum: -180, maximum: 180 },
          minProperties: 1,
          maxProperties: 12,
        },
      }),
      { hints: WRITES },
    ),
    tool(
      'light-stage',
      'Sets lamps by their number, and the curtain.',
      fields(
        { curtain: choice(['open', 'closed', 'half']) },
        {
          patternProperties: { '^lamp-[0-9]+$': whole('Per cent.', { minimum: 0, maximum: 100 }) },
          additionalProperties: false,
        },
      ),
      { hints: WRITES },
    ),
    tool(
      'write-cue-sheet',
      'Stores the cues of a play.',
      fields({ 'play!': text(), 'cues!': list(CUE, undefined, { minItems: 1 }) }, { additionalProperties: false }),
      { hints: WRITES },
    ),
    tool(
      'run-cue',
      'Runs one cue of a play on the stage.',
      fields({ 'play!': text(), 'number!': whole(undefined, { minimum: 1 }) }, { additionalProperties: false }),
      { hints: WRITES },
    ),
    tool(
      'search-plays',
      'Finds plays by the puppets in them or by what happens.',
      fields({
        'words!': text(),
        puppets: list(text()),
        'for-ages': { type: 'object', properties: { from: whole(), to: whole() }, additionalProperties: false },
      }),
      { hints: READS },
    ),
    tool(
      'cast-play',
      'Says which puppet plays which part.',
      fields({ 'play!': text(), 'parts!': { type: 'object', additionalProperties: text('A puppet.') } }),
      { hints: WRITES },
    ),
    tool(
      'props',
      'Lists what lies on the prop table.',
      { type: 'object', additionalProperties: false },
      {
        output: fields({
          'props!': { type: 'object', additionalProperties: { anyOf: [whole(), text(), { type: 'null' }] } },
        }),
        hints: READS,
      },
    ),
    tool(
      'set-options',
      'Options of the house; each theatre has its own.',
      { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
      { hints: WRITES },
    ),
    tool(
      'tag-things',
      'Puts labels on puppets and props.',
      fields({ 'labels!': { type: 'object', additionalProperties: list(text(), undefined, { uniqueItems: true }) } }),
      { hints: WRITES },
    ),
    tool(
      'sell-tickets',
      'Sells seats for a show.',
      fields({
        'show!': text(),
        'seats!': list(text(undefined, { pattern: '^[A-H][0-9]{1,2}$' }), undefined, {
          minItems: 1,
          uniqueItems: true,
        }),
        'x-note': text(),
        'content-type': text(),
      }),
      { hints: WRITES },
    ),
    tool(
      'empty-workshop',
      'Throws away everything on the workbench.',
      fields({ 'i-am-sure!': { type: 'boolean', const: true } }),
      { hints: DESTROYS },
    ),
  ],
};
