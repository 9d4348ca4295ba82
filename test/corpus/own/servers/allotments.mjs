import {
  choice,
  crud,
  DESTROYS,
  date,
  fields,
  flag,
  list,
  number,
  READS,
  text,
  tool,
  WRITES,
  whole,
} from '../build.mjs';

const PLOT = {
  'number!': whole('Painted on the gate.', { minimum: 1 }),
  'square_metres!': number('Measured along the inside of the hedge.', { exclusiveMinimum: 0, maximum: 900 }),
  has_water: flag('Whether a tap is within 20 m.'),
  soil: choice(['clay', 'loam', 'sand', 'peat', 'unknown'], 'What the last probe found.'),
  neighbours: list(whole(), 'Numbers of the plots that share a hedge.', { uniqueItems: true }),
};

const TENANCY = {
  'plot_number!': whole('The plot that is let.'),
  'tenant!': text('Full name.', { minLength: 2, maxLength: 80 }),
  'starts_on!': date('First day.'),
  ends_on: date('Last day; open where it is missing.'),
  yearly_fee: number('In the currency of the association.', { minimum: 0, multipleOf: 0.5 }),
};

const WORKDAY = {
  'day!': date('When everybody meets.'),
  'task!': text('What is to be done.', { maxLength: 400 }),
  tools_to_bring: list(choice(['spade', 'rake', 'shears', 'barrow', 'gloves'])),
  places: whole('How many people can help.', { minimum: 1, maximum: 60, default: 12 }),
};

/** The plain case: snake_case names, flat inputs, every hint given. */
export const allotments = {
  id: 'allotments',
  server: 'Allotment association',
  version: '1.4.0',
  description: 'Plots, tenancies and working days of an allotment association.',
  tools: [
    ...crud({
      one: 'plot',
      many: 'plots',
      about: 'a plot, with its size and its soil',
      fields: PLOT,
      filters: { soil: PLOT.soil, has_water: flag('Only plots with a tap.') },
    }),
    ...crud({
      one: 'tenancy',
      many: 'tenancies',
      about: 'a tenancy, with its tenant and its fee',
      fields: TENANCY,
      filters: { tenant: text('Part of a name.') },
    }),
    ...crud({ one: 'workday', many: 'workdays', about: 'a day of common work', fields: WORKDAY, leaveOut: ['update'] }),
    tool(
      'join_waiting_list',
      'Puts a household on the waiting list for a plot.',
      fields({
        'household!': text('Name on the door.'),
        'people!': whole('How many live there.', { minimum: 1, maximum: 20 }),
        wishes: list(choice(['water', 'shade', 'near_gate', 'large'])),
      }),
      { hints: WRITES },
    ),
    tool('show_waiting_list', 'Shows who is waiting, in order, and for how long.', fields({}), { hints: READS }),
    tool(
      'offer_plot',
      'Offers a free plot to the first household on the waiting list that fits.',
      fields({ 'plot_number!': whole(), days_to_answer: whole(undefined, { minimum: 3, maximum: 30, default: 14 }) }),
      { hints: WRITES },
    ),
    tool(
      'water_meter_reading',
      'Notes the reading of the main water meter.',
      fields({ 'cubic_metres!': number(undefined, { minimum: 0 }), 'read_on!': date() }),
      { hints: { ...WRITES, idempotentHint: true } },
    ),
    tool(
      'frost_forecast',
      'How likely frost is on the site in the coming nights.',
      fields({ nights: whole('Nights from now.', { minimum: 1, maximum: 7, default: 3 }) }),
      {
        hints: { ...READS, openWorldHint: true },
        output: fields({
          'nights!': list(
            fields({
              'date!': date(),
              'chance!': number(undefined, { minimum: 0, maximum: 1 }),
              lowest_celsius: number(),
            }),
          ),
        }),
      },
    ),
    tool(
      'clear_plot',
      'Marks a plot as cleared and free, and ends the tenancy that was on it.',
      fields({ 'plot_number!': whole(), reason: text() }),
      { hints: DESTROYS },
    ),
  ],
};
