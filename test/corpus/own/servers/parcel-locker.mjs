import { choice, fields, flag, list, number, READS, text, time, tool, WRITES, whole } from '../build.mjs';

const NEW = { $schema: 'https://json-schema.org/draft/2020-12/schema' };

/** Keywords that few schemas use: conditions, negations, dependencies, what is not evaluated elsewhere. */
export const parcelLocker = {
  id: 'parcel-locker',
  server: 'Parcel locker',
  version: '1.9.0',
  tools: [
    tool(
      'hand_in',
      'Hands a parcel in. A heavy one needs a scale.',
      fields(
        { 'kilograms!': number(undefined, { exclusiveMinimum: 0, maximum: 30 }), scale: text(), 'to!': text() },
        { ...NEW, if: { properties: { kilograms: { minimum: 10 } } }, then: { required: ['scale'] } },
      ),
      { hints: WRITES },
    ),
    tool(
      'price_parcel',
      'What a parcel costs, inland and abroad.',
      fields(
        {
          'country!': text(undefined, { minLength: 2, maxLength: 2 }),
          customs_code: text(),
          'grams!': whole(undefined, { minimum: 1 }),
        },
        {
          ...NEW,
          if: { properties: { country: { const: 'FI' } } },
          then: { properties: { customs_code: { maxLength: 0 } } },
          else: { required: ['customs_code'] },
        },
      ),
      { output: fields({ 'cents!': whole() }), hints: READS },
    ),
    tool(
      'change_receiver',
      'Changes who may fetch a parcel.',
      fields(
        { 'parcel!': text(), name: text(), phone: text(), card: text() },
        { ...NEW, dependentRequired: { card: ['name'], phone: ['name'] }, minProperties: 2 },
      ),
      { hints: WRITES },
    ),
    tool(
      'reserve_box',
      'Reserves a box of a size.',
      fields(
        { 'size!': choice(['s', 'm', 'l']), until: time(), hours: whole() },
        { ...NEW, not: { required: ['until', 'hours'] } },
      ),
      { hints: WRITES },
    ),
    tool(
      'open_box',
      'Opens a box with a code.',
      fields(
        {
          'box!': whole(undefined, { minimum: 1, maximum: 300 }),
          'code!': text(undefined, { minLength: 6, maxLength: 6, pattern: '^[0-9]+$' }),
        },
        NEW,
      ),
      { hints: WRITES },
    ),
    tool(
      'find_parcel',
      'Searches a parcel by its number, sender or receiver.',
      {
        ...NEW,
        ...fields({ number: text(), from: text(), to: text() }),
        minProperties: 1,
        maxProperties: 2,
        additionalProperties: false,
      },
      { hints: READS },
    ),
    tool(
      'track_parcel',
      'Where a parcel is, and where it was.',
      fields({ 'parcel!': text(undefined, { pattern: '^[A-Z]{2}[0-9]{9}$' }) }, NEW),
      { output: fields({ 'events!': list(fields({ 'at!': time(), 'place!': text(), what: text() })) }), hints: READS },
    ),
    tool(
      'bundle',
      'Puts parcels together; one of them must be small.',
      fields(
        {
          'parcels!': {
            type: 'array',
            items: fields({ 'id!': text(), 'grams!': whole() }),
            contains: { properties: { grams: { maximum: 500 } } },
            minItems: 2,
          },
        },
        NEW,
      ),
      { hints: WRITES },
    ),
    tool(
      'tag_parcel',
      'Puts marks on a parcel.',
      fields(
        {
          'parcel!': text(),
          'marks!': {
            type: 'object',
            propertyNames: { pattern: '^[a-z][a-z_]*$', maxLength: 20 },
            additionalProperties: text(),
          },
        },
        NEW,
      ),
      { hints: WRITES },
    ),
    tool(
      'complain',
      'Files a complaint.',
      {
        ...NEW,
        allOf: [
          fields({ 'parcel!': text() }),
          fields({ 'about!': choice(['late', 'damaged', 'lost']), photo: text(undefined, { format: 'uri' }) }),
        ],
        unevaluatedProperties: false,
        type: 'object',
      },
      { hints: WRITES },
    ),
    tool(
      'opening_hours',
      'When the room with the lockers is open.',
      {
        ...NEW,
        type: 'object',
        properties: {
          day: {
            oneOf: [
              { const: 'monday' },
              { const: 'saturday', description: 'Shorter.' },
              { const: 'sunday', description: 'Closed.' },
            ],
          },
        },
      },
      { hints: READS },
    ),
    tool(
      'courier_round',
      'Plans the round of a courier.',
      fields(
        { 'stops!': list(text(), undefined, { minItems: 1, uniqueItems: true }), start: time(), bicycle: flag() },
        { ...NEW, dependentSchemas: { bicycle: { properties: { stops: { maxItems: 20 } } } } },
      ),
      { hints: READS },
    ),
    tool(
      'return_to_sender',
      'Sends a parcel back. The receiver does not get it any more.',
      fields({ 'parcel!': text(), 'because!': text() }, NEW),
      { hints: { destructiveHint: true } },
    ),
  ],
};
