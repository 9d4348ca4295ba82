import { choice, fields, flag, list, number, READS, text, time, tool, WRITES, whole } from '../build.mjs';

const DRAFT = { $schema: 'http://json-schema.org/draft-07/schema#', additionalProperties: false };
const HARBOUR = text('Short code of a harbour.', { pattern: '^[A-Z]{3}$', examples: ['NOR', 'LEE'] });
const WINDOW = { from: time('Start, UTC.'), to: time('End, UTC.') };
const LEVEL = fields({
  'at!': time(),
  'metres!': number('Above chart datum.'),
  kind: choice(['high', 'low', 'between']),
});
const SERIES = fields(
  { 'harbour!': text(), 'levels!': list(LEVEL), source: fields({ 'station!': text(), 'is_predicted!': flag() }) },
  DRAFT,
);

/** Numbers with limits of every kind, draft-07, and outputs for each reading. */
export const tidewatch = {
  id: 'tidewatch',
  server: 'Tidewatch',
  version: '3.0.2',
  description: 'Tides, currents and depths for small harbours.',
  tools: [
    tool(
      'tide_levels',
      'Water levels of a harbour over time, predicted and measured.',
      fields(
        {
          'harbour!': HARBOUR,
          ...WINDOW,
          step_minutes: whole('Between two levels.', { minimum: 5, maximum: 180, multipleOf: 5, default: 30 }),
        },
        DRAFT,
      ),
      { output: SERIES, hints: READS },
    ),
    tool(
      'next_high_water',
      'The next time the tide is at its highest.',
      fields({ 'harbour!': HARBOUR, after: time() }, DRAFT),
      { output: LEVEL, hints: READS },
    ),
    tool(
      'next_low_water',
      'The next time the tide is at its lowest.',
      fields({ 'harbour!': HARBOUR, after: time() }, DRAFT),
      { output: LEVEL, hints: READS },
    ),
    tool(
      'depth_at_berth',
      'How deep the water is at one berth at a given time.',
      fields({ 'harbour!': HARBOUR, 'berth!': whole(undefined, { minimum: 1, maximum: 400 }), at: time() }, DRAFT),
      { output: fields({ 'metres!': number(), 'is_safe!': flag('Half a metre under a usual keel.') }), hints: READS },
    ),
    tool(
      'current_speed',
      'Speed and direction of the current in a channel.',
      fields(
        {
          'channel!': text(),
          at: time(),
          'depth!': number('Metres below the surface.', { minimum: 0, exclusiveMaximum: 120 }),
        },
        DRAFT,
      ),
      {
        output: fields({
          'knots!': number(undefined, { minimum: 0 }),
          'degrees!': number(undefined, { minimum: 0, exclusiveMaximum: 360 }),
        }),
        hints: READS,
      },
    ),
    tool(
      'list_harbours',
      'Every harbour that has a gauge.',
      fields({ region: choice(['north', 'east', 'south', 'west']) }, DRAFT),
      {
        output: fields({
          'harbours!': list(
            fields({
              'code!': text(),
              'name!': text(),
              latitude: number(undefined, { minimum: -90, maximum: 90 }),
              longitude: number(undefined, { minimum: -180, maximum: 180 }),
            }),
          ),
        }),
        hints: READS,
      },
    ),
    tool(
      'storm_warnings',
      'Warnings that are in force, the worst first.',
      fields({ least_force: whole('On the scale of Beaufort.', { minimum: 0, maximum: 12, default: 7 }) }, DRAFT),
      {
        output: fields({ 'warnings!': list(fields({ 'force!': whole(), 'area!': text(), until: time() })) }),
        hints: { ...READS, openWorldHint: true },
      },
    ),
    tool(
      'record_gauge',
      'Stores a reading that a person took at a gauge.',
      fields(
        {
          'harbour!': HARBOUR,
          'metres!': number('Read from the board.', { minimum: -2, maximum: 15 }),
          'read_at!': time(),
          reader: text(undefined, { minLength: 1, maxLength: 60 }),
        },
        DRAFT,
      ),
      { hints: WRITES },
    ),
    tool(
      'plan_passage',
      'Finds times at which a boat can pass all the shallow places on its way.',
      fields(
        {
          'waypoints!': list(
            fields(
              {
                'latitude!': number(undefined, { minimum: -90, maximum: 90 }),
                'longitude!': number(undefined, { minimum: -180, maximum: 180 }),
              },
              { additionalProperties: false },
            ),
            'In the order of the passage.',
            { minItems: 2, maxItems: 40 },
          ),
          'draught_metres!': number('Of the boat.', { exclusiveMinimum: 0, maximum: 12 }),
          speed_knots: number(undefined, { exclusiveMinimum: 0, maximum: 40, default: 6 }),
        },
        DRAFT,
      ),
      { output: fields({ 'departures!': list(time()), shallowest_metres: number() }), hints: READS },
    ),
    tool(
      'compare_gauges',
      'The difference between two gauges, as a series.',
      fields({ 'first!': HARBOUR, 'second!': HARBOUR, ...WINDOW }, DRAFT),
      { output: SERIES, hints: READS },
    ),
    tool(
      'buoy_status',
      'Whether a buoy is in its place and its light is on.',
      fields({ 'buoy!': text(undefined, { pattern: '^B-[0-9]{1,4}$' }) }, DRAFT),
      { hints: READS },
    ),
    tool(
      'cancel_alarm',
      'Silences the alarm of a gauge until the next tide.',
      fields({ 'harbour!': HARBOUR, 'reason!': text() }, DRAFT),
      { hints: WRITES },
    ),
  ],
};
