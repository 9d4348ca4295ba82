import { choice, crud, fields, flag, list, number, READS, text, time, tool, WRITES, whole } from '../build.mjs';

const LONG = `Plans a night of observing.

The planner takes a list of targets, works out when each of them is highest above the horizon, and puts them in an order
in which the dome turns as little as possible. A target that never rises above 25 degrees is left out and named in the
answer, with the reason.

How to use it:
1. Ask \`seeing_forecast\` first. Above 3 arc seconds, faint targets are not worth the time.
2. Give at most 40 targets. The planner needs a second for each ten of them.
3. Give \`not_before\` and \`not_after\` as times in UTC, for example 2031-02-11T21:30:00Z.
4. Check \`moon_distance\` in the answer. Less than 20 degrees spoils a picture.

What it does not do: it moves nothing, it reserves no time, and it knows nothing of clouds. ${'Targets that are given twice are planned once. '.repeat(12)}`;

const TARGET = fields({
  'name!': text('As catalogues have it.'),
  'right_ascension!': number('Hours.', { minimum: 0, exclusiveMaximum: 24 }),
  'declination!': number('Degrees.', { minimum: -90, maximum: 90 }),
  magnitude: number(),
  tags: list(text(), undefined, { uniqueItems: true }),
});
const STATION = {
  'host!': text('Name in the network.', { format: 'hostname' }),
  ipv4: text(undefined, { format: 'ipv4' }),
  ipv6: text(undefined, { format: 'ipv6' }),
  'keeper!': text(undefined, { format: 'email' }),
  page: text(undefined, { format: 'uri' }),
  serial: text(undefined, { format: 'uuid' }),
};

/** Formats, known and unknown, and descriptions as long as a page. */
export const observatory = {
  id: 'observatory',
  server: 'Hill observatory',
  version: '2031.1',
  description: 'Telescopes, exposures and weather of a small observatory on a hill.',
  tools: [
    tool(
      'plan_night',
      LONG,
      fields({
        'targets!': list(TARGET, 'What is to be seen.', { minItems: 1, maxItems: 40 }),
        'not_before!': time(),
        'not_after!': time(),
        telescope: choice(['meridian', 'dome', 'roof']),
      }),
      {
        output: fields({
          'order!': list(fields({ 'name!': text(), 'at!': time(), moon_distance: number() })),
          left_out: list(fields({ 'name!': text(), 'because!': text() })),
        }),
        hints: READS,
      },
    ),
    tool(
      'point_telescope',
      'Points a telescope at a place in the sky.',
      fields({
        'telescope!': choice(['meridian', 'dome', 'roof']),
        'target!': { anyOf: [TARGET, text('A name that the catalogue knows.')] },
        track: flag(undefined, { default: true }),
      }),
      { hints: WRITES },
    ),
    tool(
      'expose',
      'Takes a picture.',
      fields({
        'seconds!': number(undefined, { exclusiveMinimum: 0, maximum: 3600 }),
        filter: choice(['clear', 'red', 'green', 'blue', 'h-alpha']),
        for: text('How long in words.', { format: 'duration' }),
      }),
      {
        output: fields({ 'picture!': text(undefined, { format: 'uuid' }), url: text(undefined, { format: 'uri' }) }),
        hints: WRITES,
      },
    ),
    tool(
      'stack_pictures',
      'Adds up pictures of the same place.',
      fields({
        'pictures!': list(text(undefined, { format: 'uuid' }), undefined, { minItems: 2, maxItems: 200 }),
        method: choice(['mean', 'median', 'sigma-clip']),
      }),
      { output: fields({ 'picture!': text(undefined, { format: 'uuid' }) }), hints: WRITES },
    ),
    tool(
      'seeing_forecast',
      'How steady the air will be.',
      fields({ hours: whole(undefined, { minimum: 1, maximum: 48, default: 12 }) }),
      {
        output: fields({ 'arc_seconds!': list(number(undefined, { minimum: 0 })) }),
        hints: { ...READS, openWorldHint: true },
      },
    ),
    tool(
      'find_object',
      'Searches the catalogue by name, kind or brightness.',
      fields({
        name: text(),
        kind: choice(['star', 'galaxy', 'nebula', 'cluster', 'comet', 'planet', 'asteroid', 'other']),
        brighter_than: number(),
      }),
      { output: fields({ 'objects!': list(TARGET) }), hints: READS },
    ),
    ...crud({
      one: 'station',
      many: 'stations',
      about: 'a station of the network, with its address and its keeper',
      fields: STATION,
      hasOutput: true,
      filters: { keeper: text(undefined, { format: 'email' }) },
    }),
    tool('open_dome', 'Opens the dome if it does not rain.', fields({ 'dome!': choice(['main', 'roof']) }), {
      hints: WRITES,
    }),
    tool('close_dome', 'Closes the dome, always.', fields({ 'dome!': choice(['main', 'roof']) }), {
      hints: { ...WRITES, idempotentHint: true },
    }),
    tool(
      'report_event',
      'Reports something new in the sky to other observatories.',
      fields({
        'seen_at!': time(),
        'where!': TARGET,
        'what!': text(undefined, { minLength: 10, maxLength: 2000 }),
        contact: text(undefined, { format: 'idn-email' }),
        calendar: text(undefined, { format: 'julian-day' }),
      }),
      { hints: { ...WRITES, openWorldHint: true } },
    ),
    tool('sky_clock', 'Sidereal time now.', fields({}), {
      output: fields({ 'time!': text(undefined, { format: 'time' }) }),
      hints: READS,
    }),
    tool(
      'log_entry',
      'Writes a line into the log of the night.',
      fields({
        'line!': text(undefined, { maxLength: 500 }),
        attachment: text('A small picture.', { contentEncoding: 'base64', contentMediaType: 'image/png' }),
      }),
      { hints: WRITES },
    ),
  ],
};
