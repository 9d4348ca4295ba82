import { choice, fields, flag, list, number, READS, text, tool, WRITES, whole } from '../build.mjs';

const DRAFT_4 = { $schema: 'http://json-schema.org/draft-04/schema#' };
const old = (properties, more) => fields(properties, { ...DRAFT_4, ...more });
const MASS = number('Tonnes.', { minimum: 0, exclusiveMinimum: true, maximum: 400, exclusiveMaximum: false });
const FACE = fields({ 'level!': whole(undefined, { minimum: -12, maximum: 0 }), 'name!': text() }, { id: '#face' });

/** An old server: draft-04, where exclusive limits are true or false. Its id has a dot. */
export const quarry = {
  id: 'quarry.ops',
  server: 'quarry-ops',
  version: '0.3',
  tools: [
    tool('faces', 'Faces that are worked now.', old({ level: whole(undefined, { minimum: -12, maximum: 0 }) })),
    tool(
      'plan_blast',
      'Plans a blast and says who must leave which area.',
      old({
        'face!': FACE,
        'charge_kg!': number(undefined, { minimum: 0, exclusiveMinimum: true, maximum: 2500 }),
        'at!': text(undefined, { format: 'date-time' }),
        delays_ms: list(whole(undefined, { minimum: 8, maximum: 500 }), undefined, { maxItems: 60 }),
      }),
    ),
    tool('fire_blast', 'Fires a planned blast.', old({ 'plan!': text(), 'all_clear!': { enum: [true] } }), {
      hints: { destructiveHint: true },
    }),
    tool(
      'weigh_lorry',
      'Weighs a lorry on the bridge.',
      old({ 'plate!': text(), 'tonnes!': MASS, direction: choice(['in', 'out']) }),
    ),
    tool(
      'load_report',
      'What left the quarry, by stone and by day.',
      old({
        from: text(undefined, { format: 'date' }),
        to: text(undefined, { format: 'date' }),
        stone: choice(['granite', 'basalt', 'slate', 'limestone']),
      }),
      { hints: READS },
    ),
    tool(
      'crusher_state',
      'State of a crusher, with its temperature.',
      old({ 'crusher!': whole(undefined, { minimum: 1, maximum: 6 }) }),
      { hints: READS },
    ),
    tool(
      'set_crusher_gap',
      'Sets how fine a crusher breaks the stone.',
      old({
        'crusher!': whole(),
        'millimetres!': number(undefined, { minimum: 5, maximum: 250, exclusiveMaximum: true }),
      }),
      { hints: WRITES },
    ),
    tool('stop_crusher', 'Stops a crusher at once.', old({ 'crusher!': whole(), reason: text() }), {
      hints: { destructiveHint: true, idempotentHint: true },
    }),
    tool(
      'dust_level',
      'Dust in the air at the fence.',
      old({ 'station!': { type: 'string', enum: ['north', 'gate', 'school'] } }),
      { hints: READS },
    ),
    tool(
      'pump_water',
      'Pumps water out of the pit.',
      old({ 'hours!': number(undefined, { minimum: 0, exclusiveMinimum: true, maximum: 72 }), at_night: flag() }),
    ),
    tool(
      'survey_points',
      'Stores points of a survey.',
      old({
        'points!': {
          type: 'array',
          items: { type: 'array', items: [number(), number(), number()], additionalItems: false },
          minItems: 1,
        },
        system: choice(['local', 'national']),
      }),
    ),
    tool(
      'stockpile',
      'How much stone of each size lies in the yard.',
      old({ sizes: { type: 'array', items: [text('From.'), text('To.')], additionalItems: text('Others.') } }),
      { hints: READS },
    ),
  ],
};
