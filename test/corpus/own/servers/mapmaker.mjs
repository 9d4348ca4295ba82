import { choice, fields, list, number, READS, reference, text, tool, WRITES, whole } from '../build.mjs';

const POINT = fields({
  'latitude!': number(undefined, { minimum: -90, maximum: 90 }),
  'longitude!': number(undefined, { minimum: -180, maximum: 180 }),
});
const PLACE = fields({ 'name!': text(), 'at!': POINT, kind: text() });
const SHAPES = {
  shape: { oneOf: [reference('dot'), reference('line'), reference('area'), reference('group')] },
  dot: fields({ 'type!': { const: 'dot' }, 'at!': reference('position') }),
  line: fields({ 'type!': { const: 'line' }, 'through!': list(reference('position'), undefined, { minItems: 2 }) }),
  area: fields({ 'type!': { const: 'area' }, 'rings!': list(list(reference('position'), undefined, { minItems: 4 })) }),
  group: fields({ 'type!': { const: 'group' }, 'shapes!': list(reference('shape')) }),
  position: {
    type: 'array',
    prefixItems: [number('East.'), number('North.'), number('Up.')],
    items: false,
    minItems: 3,
  },
};

/** Everyday calls with required keys, lists of objects and a choice; and shapes that contain shapes. */
export const mapmaker = {
  id: 'mapmaker',
  server: 'Mapmaker',
  version: '4.2.0',
  description: 'Addresses, heights, routes and drawings on a map.',
  tools: [
    tool(
      'locate_address',
      'Finds the coordinates of an address.',
      fields({ 'address!': text('Street, number, town.') }),
      { output: fields({ 'places!': list(PLACE) }), hints: READS },
    ),
    tool('address_at', 'Finds the address of a point.', fields({ 'point!': POINT }), { output: PLACE, hints: READS }),
    tool(
      'heights',
      'How high points are above the sea.',
      fields({ 'points!': list(POINT, undefined, { minItems: 1, maxItems: 500 }) }),
      { output: fields({ 'metres!': list(number()) }), hints: READS },
    ),
    tool(
      'route',
      'The way from one place to another, step by step.',
      fields({
        'start!': text(),
        'end!': text(),
        mode: choice(['walk', 'cycle', 'drive', 'bus'], undefined, { default: 'walk' }),
        avoid: list(choice(['ferries', 'tolls', 'hills'])),
      }),
      {
        output: fields({ 'metres!': number(), 'steps!': list(fields({ 'say!': text(), metres: number() })) }),
        hints: READS,
      },
    ),
    tool(
      'travel_times',
      'Minutes between all of some places, as a table.',
      fields({
        'places!': list(text(), undefined, { minItems: 2, maxItems: 25 }),
        mode: choice(['walk', 'cycle', 'drive', 'bus']),
      }),
      { output: fields({ 'minutes!': list(list({ type: ['number', 'null'] })) }), hints: READS },
    ),
    tool(
      'nearby',
      'What is near a point: shops, stops, benches.',
      fields({
        'point!': POINT,
        'what!': text(),
        metres: whole(undefined, { minimum: 50, maximum: 20000, default: 1000 }),
      }),
      { output: fields({ 'places!': list(PLACE) }), hints: READS },
    ),
    tool(
      'draw_shape',
      'Draws a shape on a map.',
      {
        ...fields({
          'map!': text(),
          'shape!': reference('shape'),
          colour: text(undefined, { pattern: '^#[0-9a-f]{6}$' }),
        }),
        $defs: SHAPES,
      },
      { hints: WRITES },
    ),
    tool(
      'shapes_in',
      'All shapes within a frame.',
      fields({
        'map!': text(),
        'frame!': { type: 'array', prefixItems: [number(), number(), number(), number()], items: false, minItems: 4 },
      }),
      { output: { ...fields({ 'shapes!': list(reference('shape')) }), $defs: SHAPES }, hints: READS },
    ),
    tool(
      'measure_area',
      'Square metres of a shape.',
      { ...fields({ 'shape!': reference('area') }), $defs: SHAPES },
      { output: fields({ 'square_metres!': number(undefined, { minimum: 0 }) }), hints: READS },
    ),
    tool('erase_map', 'Erases everything on a map.', fields({ 'map!': text() }), { hints: { destructiveHint: true } }),
  ],
};
