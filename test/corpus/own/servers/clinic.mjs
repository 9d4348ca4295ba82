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

const ANIMAL = {
  'name!': text(),
  'kind!': choice(['dog', 'cat', 'horse', 'rabbit', 'bird', 'other']),
  born: orNull(date()),
  'owner!': text(),
  weight_kg: orNull(number(undefined, { exclusiveMinimum: 0 })),
  chip: text('Fifteen digits.', { pattern: '^[0-9]{15}$' }),
};
const VISIT = {
  'animal_id!': text('Who comes.'),
  'at!': time(),
  'because!': text(),
  minutes: whole(undefined, { enum: [10, 20, 30, 60], default: 20 }),
  vet: text(),
};

/** Private data in the descriptions: ids, numbers and addresses that are none of anybody's secrets. */
export const clinic = {
  id: 'clinic-diary',
  server: 'Diary of an animal clinic',
  version: '2.0.0-beta.4',
  description: 'Animals, visits and medicines. An access token is needed for writing.',
  tools: [
    ...crud({
      one: 'animal',
      many: 'animals',
      about: 'an animal, with its owner and its weight',
      fields: ANIMAL,
      filters: { owner: text(), kind: ANIMAL['kind!'] },
      hasOutput: true,
    }),
    ...crud({
      one: 'visit',
      many: 'visits',
      about: 'a visit, with its reason',
      fields: VISIT,
      filters: { day: date(), vet: text() },
      hasOutput: true,
      leaveOut: ['delete'],
    }),
    tool(
      'free_times',
      'Times at which a vet is free. The id looks like 3f0c1a52-77d4-4a7e-9a1b-0c9f6a2f4e11.',
      fields({ 'day!': date(), minutes: whole(undefined, { default: 20 }), vet: text() }),
      { output: fields({ 'times!': list(time()) }), hints: READS },
    ),
    tool(
      'prescribe',
      'Prescribes a medicine. Doses are per kilogram and day.',
      fields({
        'animal_id!': text(),
        'medicine!': text(),
        'milligrams!': number(undefined, { exclusiveMinimum: 0 }),
        days: whole(undefined, { minimum: 1, maximum: 90 }),
      }),
      { hints: WRITES },
    ),
    tool(
      'dose_for',
      'Works out the dose of a medicine for an animal.',
      fields({ 'medicine!': text(), 'weight_kg!': number(undefined, { exclusiveMinimum: 0 }), kind: ANIMAL['kind!'] }),
      { output: fields({ 'milligrams!': number(), warning: orNull(text()) }), hints: READS },
    ),
    tool(
      'lab_results',
      'Results of a blood test, with what is usual.',
      fields({ 'animal_id!': text(), since: date() }),
      {
        output: fields({
          'values!': list(fields({ 'name!': text(), 'value!': number(), low: number(), high: number(), unit: text() })),
        }),
        hints: READS,
      },
    ),
    tool(
      'remind_owner',
      'Reminds an owner by text message, such as to +358 40 000 0000.',
      fields({ 'visit_id!': text(), hours_before: whole(undefined, { minimum: 1, maximum: 72 }) }),
      { hints: { ...WRITES, openWorldHint: true } },
    ),
    tool(
      'vaccinations_due',
      'Which animals are due for a vaccination.',
      fields({ before: date(), kind: ANIMAL['kind!'] }),
      { hints: READS },
    ),
    tool(
      'forget_owner',
      'Deletes everything about an owner, as the law asks.',
      fields({ 'owner!': text(), 'signed_on!': date() }),
      { hints: DESTROYS },
    ),
    tool('open_ward', 'Who stays over night, and in which cage.', fields({}), {
      output: fields({ 'cages!': { type: 'object', additionalProperties: orNull(text()) } }),
      hints: READS,
    }),
    tool(
      'log_in',
      'Logs a vet in. Give the key as vet_key; a header such as "Authorization: Bearer <your key>" is not needed.',
      fields({ 'vet!': text(), 'vet_key!': text('From the drawer; never printed.'), remember: flag() }),
      { hints: WRITES },
    ),
  ],
};
