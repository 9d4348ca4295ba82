import {
  camel,
  choice,
  crud,
  DESTROYS,
  date,
  fields,
  flag,
  list,
  number,
  orNull,
  READS,
  text,
  tool,
  WRITES,
  whole,
} from '../build.mjs';

const HIVE = {
  'name!': text('As painted on the lid.'),
  'kind!': choice(['straw', 'frame', 'top-bar', 'log']),
  queenBorn: { type: ['string', 'null'], format: 'date', description: 'Null where nobody has seen her.' },
  weightKilograms: orNull(number(undefined, { minimum: 0, maximum: 200 })),
  frames: { type: ['integer', 'null'], minimum: 0, maximum: 24 },
  notes: { type: 'string', nullable: true },
  place: { anyOf: [fields({ 'row!': whole(), 'column!': whole() }), text('In words.'), { type: 'null' }] },
};
const INSPECTION = {
  'hiveId!': text('Which hive.'),
  'on!': date('Day of the inspection.'),
  temper: choice(['calm', 'lively', 'cross', null].filter(Boolean)),
  eggsSeen: { type: ['boolean', 'null'] },
  mites: { type: ['number', 'string', 'null'], description: 'Per hundred bees, or "many".' },
  swarmCells: orNull(whole(undefined, { minimum: 0 })),
};

/** What may be null, in all the ways that schemas say so; camelCase names. */
export const beekeeper = {
  id: 'beekeeper',
  server: 'Beekeeper',
  version: '1.0.0',
  tools: [
    ...crud({
      one: 'hive',
      many: 'hives',
      about: 'a hive, with its queen and its weight',
      fields: HIVE,
      nameTool: camel,
      filters: { kind: HIVE['kind!'], lighterThan: number('Kilograms.') },
      hasOutput: true,
    }),
    ...crud({
      one: 'inspection',
      many: 'inspections',
      about: 'what was seen in a hive on one day',
      fields: INSPECTION,
      nameTool: camel,
      filters: { hiveId: text() },
      hasOutput: true,
      leaveOut: ['update'],
    }),
    tool('weighHive', 'Reads the scale under a hive.', fields({ 'hiveId!': text(), tare: orNull(number()) }), {
      output: fields({ 'kilograms!': { type: ['number', 'null'] } }),
      hints: READS,
    }),
    tool(
      'nectarFlow',
      'How much the hives gained a day, by week.',
      fields({ from: date(), to: date(), hives: { anyOf: [list(text()), { const: 'all' }], default: 'all' } }),
      {
        output: fields({ 'weeks!': list(fields({ 'starts!': date(), 'gramsPerDay!': orNull(number()) })) }),
        hints: READS,
      },
    ),
    tool(
      'treatMites',
      'Notes a treatment against mites and when honey may be taken again.',
      fields({
        'hiveId!': text(),
        'agent!': choice(['formic', 'oxalic', 'thymol', 'heat']),
        'dose!': { anyOf: [number('Millilitres.'), fields({ 'strips!': whole() })] },
      }),
      { hints: WRITES },
    ),
    tool(
      'harvestHoney',
      'Notes a harvest.',
      fields({
        'hiveId!': text(),
        'kilograms!': number(undefined, { exclusiveMinimum: 0 }),
        waterPercent: orNull(number(undefined, { minimum: 12, maximum: 25 })),
        kindOf: text(),
      }),
      { hints: WRITES },
    ),
    tool(
      'splitColony',
      'Makes two colonies of one. The old queen stays where she is.',
      fields({
        'hiveId!': text(),
        'newName!': text(),
        framesToMove: whole(undefined, { minimum: 2, maximum: 10, default: 4 }),
      }),
      { hints: WRITES },
    ),
    tool(
      'mergeColonies',
      'Makes one colony of two. One of the queens is lost.',
      fields({ 'stays!': text(), 'goes!': text() }),
      { hints: DESTROYS },
    ),
    tool(
      'swarmRisk',
      'Which colonies are likely to swarm in the coming days.',
      fields({ days: whole(undefined, { minimum: 1, maximum: 21, default: 9 }) }),
      {
        output: fields({
          'risks!': { type: 'object', additionalProperties: { type: ['number', 'null'], minimum: 0, maximum: 1 } },
        }),
        hints: READS,
      },
    ),
    tool(
      'bloomCalendar',
      'What is in bloom within reach of the bees.',
      fields({
        month: orNull(whole(undefined, { minimum: 1, maximum: 12 })),
        kilometres: number(undefined, { default: 3 }),
      }),
      { hints: READS },
    ),
    tool(
      'labelJars',
      'Makes labels for jars, as text that a label printer understands.',
      fields({
        'harvest!': text(),
        'count!': whole(undefined, { minimum: 1, maximum: 500 }),
        bestBefore: orNull(date()),
        withWeight: flag(),
      }),
      { output: fields({ 'labels!': list(text()) }), hints: READS },
    ),
  ],
};
