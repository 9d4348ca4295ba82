import {
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
  time,
  tool,
  WRITES,
  whole,
} from '../build.mjs';

const PORT = text('Name of a landing.', { minLength: 2 });
const VEHICLE = {
  anyOf: [
    fields({ 'type!': { const: 'bicycle' }, is_tandem: flag() }),
    fields({
      'type!': { const: 'car' },
      'length_metres!': number(undefined, { exclusiveMinimum: 0, maximum: 8 }),
      'plate!': text(),
    }),
    fields({
      'type!': { const: 'lorry' },
      'length_metres!': number(undefined, { minimum: 6, maximum: 19 }),
      'tonnes!': number(),
      dangerous_goods: list(text('UN number.', { pattern: '^UN[0-9]{4}$' })),
    }),
  ],
};
const PASSENGER = fields({
  'name!': text(),
  'age!': whole(undefined, { minimum: 0, maximum: 120 }),
  needs: orNull(text('Wheelchair, pram, assistance.')),
});
const SAILING = {
  'from!': PORT,
  'to!': PORT,
  'departs_at!': time('By the clock on the quay.'),
  ship: text(),
  cancelled: flag(),
};
const BOOKING = {
  'sailing_id!': text('Which sailing.'),
  'passengers!': list(PASSENGER, undefined, { minItems: 1, maxItems: 9 }),
  vehicle: VEHICLE,
  'contact!': text('Where the tickets go.', { format: 'email' }),
};

/** Dates, tickets and unions; every answer has a schema. */
export const ferryDesk = {
  id: 'ferry-desk',
  server: 'Ferry desk',
  version: '2.2.0',
  description: 'Timetable and bookings of four ferries.',
  tools: [
    ...crud({
      one: 'sailing',
      many: 'sailings',
      about: 'a sailing, with its ship and its times',
      fields: SAILING,
      filters: { from: PORT, to: PORT, day: date('All sailings of that day.') },
      hasOutput: true,
      leaveOut: ['delete'],
    }),
    ...crud({
      one: 'booking',
      many: 'bookings',
      about: 'a booking, with everybody on board',
      fields: BOOKING,
      filters: { contact: text() },
      hasOutput: true,
      leaveOut: ['delete'],
    }),
    tool(
      'find_connections',
      'Finds ways from one landing to another, with changes where there is no direct ferry.',
      fields({
        'from!': PORT,
        'to!': PORT,
        'day!': date(),
        latest_arrival: text('HH:MM', { pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' }),
        most_changes: whole(undefined, { minimum: 0, maximum: 3, default: 1 }),
        with: list(choice(['bicycle', 'car', 'lorry', 'dog'])),
      }),
      {
        output: fields({
          'connections!': list(
            fields({ 'legs!': list(fields(SAILING), undefined, { minItems: 1 }), minutes: whole() }),
          ),
        }),
        hints: READS,
      },
    ),
    tool(
      'fare',
      'What a crossing costs.',
      fields({ 'sailing_id!': text(), 'passengers!': list(PASSENGER), vehicle: VEHICLE }),
      {
        output: fields({
          'total!': number(),
          'currency!': choice(['EUR', 'SEK', 'NOK']),
          parts: { type: 'object', additionalProperties: number() },
        }),
        hints: READS,
      },
    ),
    tool('deck_plan', 'Where vehicles stand on a ship, row by row.', fields({ 'ship!': text() }), {
      output: fields({ 'rows!': list(list({ anyOf: [VEHICLE, { type: 'null' }] })) }),
      hints: READS,
    }),
    tool(
      'check_in',
      'Checks passengers in and gives each a boarding number.',
      fields({ 'booking_id!': text(), 'names!': list(text(), undefined, { minItems: 1 }) }),
      { output: fields({ 'boarding!': list(fields({ 'name!': text(), 'number!': whole() })) }), hints: WRITES },
    ),
    tool(
      'cancel_booking',
      'Cancels a booking. The fare is paid back less a fee.',
      fields({ 'booking_id!': text(), reason: text() }),
      { output: fields({ 'paid_back!': number() }), hints: DESTROYS },
    ),
    tool(
      'refund_fare',
      'Pays money back for a sailing that did not go.',
      fields({ 'booking_id!': text(), 'amount!': number(undefined, { exclusiveMinimum: 0 }) }),
      { hints: DESTROYS },
    ),
    tool('delays', 'Which sailings are late now, and why.', fields({}), {
      output: fields({
        'late!': list(
          fields({ 'sailing_id!': text(), 'minutes!': whole(undefined, { minimum: 1 }), cause: orNull(text()) }),
        ),
      }),
      hints: READS,
    }),
    tool(
      'weather_hold',
      'Holds all sailings of a landing until the wind is down.',
      fields({
        'landing!': PORT,
        'until!': time(),
        announce: flag('Whether the loudspeakers say it.', { default: true }),
      }),
      { hints: WRITES },
    ),
    tool(
      'lost_property',
      'Searches what was found on board.',
      fields({ 'what!': text(), since: date(), colour: text() }),
      {
        output: fields({ 'found!': list(fields({ 'item!': text(), 'ship!': text(), 'found_on!': date() })) }),
        hints: READS,
      },
    ),
  ],
};
