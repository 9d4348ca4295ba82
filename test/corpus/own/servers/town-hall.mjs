import {
  choice,
  crud,
  DESTROYS,
  date,
  fields,
  flag,
  kebab,
  list,
  number,
  READS,
  text,
  time,
  tool,
  WRITES,
  whole,
} from '../build.mjs';

const CITIZEN = { 'name!': text(), street: text(), born: date(), languages: list(text()) };
const PERMIT = {
  'for!': choice(['building', 'market', 'parade', 'fishing', 'tree']),
  'holder!': text(),
  'from!': date(),
  to: date(),
  conditions: list(text(undefined, { maxLength: 300 })),
};
const ROOM = { 'name!': text(), seats: whole(undefined, { minimum: 1 }), has_organ: flag() };
const MEETING = {
  'room-id!': text(),
  'starts!': time(),
  'ends!': time(),
  topic: text(),
  open_to_all: flag(undefined, { default: true }),
};
const LAMP = { 'street!': text(), 'number!': whole(), watts: number(), state: choice(['lit', 'dark', 'flickers']) };
const COMPLAINT = {
  'about!': text(),
  'where!': text(),
  urgency: whole(undefined, { minimum: 1, maximum: 5 }),
  photo: text(undefined, { format: 'uri' }),
};
const COUNCILLOR = { 'name!': text(), party: text(), since: date() };
const kinds = [
  {
    one: 'citizen',
    many: 'citizens',
    about: 'a citizen, with the street',
    fields: CITIZEN,
    filters: { street: text() },
  },
  {
    one: 'permit',
    many: 'permits',
    about: 'a permit, with its conditions',
    fields: PERMIT,
    filters: { for: PERMIT['for!'], valid_on: date() },
  },
  { one: 'meeting room', many: 'meeting rooms', about: 'a room for meetings', fields: ROOM, id: 'room-id' },
  {
    one: 'meeting',
    many: 'meetings',
    about: 'a meeting, with its room and topic',
    fields: MEETING,
    filters: { day: date() },
  },
  {
    one: 'street lamp',
    many: 'street lamps',
    about: 'a street lamp, and whether it is lit',
    fields: LAMP,
    filters: { state: LAMP.state },
  },
  {
    one: 'complaint',
    many: 'complaints',
    about: 'a complaint of a citizen',
    fields: COMPLAINT,
    filters: { least_urgency: whole() },
  },
  {
    one: 'councillor',
    many: 'councillors',
    about: 'a member of the council',
    fields: COUNCILLOR,
    leaveOut: ['delete'],
  },
];

/** Many small tools that are named alike: what a search has to tell apart. */
export const townHall = {
  id: 'town-hall',
  server: 'Town hall',
  version: '1.21.0',
  description: 'Registers, permits, rooms and street lamps of a town.',
  tools: [
    ...kinds.flatMap((kind) => crud({ nameTool: kebab, ...kind })),
    tool('vote-count', 'How the council voted on a motion.', fields({ 'motion!': text() }), {
      output: fields({ 'yes!': whole(), 'no!': whole(), abstained: whole() }),
      hints: READS,
    }),
    tool(
      'free-rooms',
      'Meeting rooms that are free at a time.',
      fields({ 'from!': time(), 'to!': time(), seats: whole() }),
      { hints: READS },
    ),
    tool(
      'lamp-outages',
      'Streets where lamps have been dark for some days.',
      fields({ days: whole(undefined, { minimum: 1, default: 3 }) }),
      { hints: READS },
    ),
    tool(
      'order-repair',
      'Orders the repair of a lamp, a bench or a road.',
      fields({ 'what!': text(), 'where!': text(), by: date() }),
      { hints: WRITES },
    ),
    tool(
      'certificate',
      'Issues a certificate: of birth, of residence, of marriage.',
      fields({
        'citizen-id!': text(),
        'kind!': choice(['birth', 'residence', 'marriage']),
        copies: whole(undefined, { minimum: 1, maximum: 10, default: 1 }),
      }),
      { hints: WRITES },
    ),
    tool('revoke-permit', 'Revokes a permit at once.', fields({ 'permit-id!': text(), 'because!': text() }), {
      hints: DESTROYS,
    }),
    tool('population', 'How many people live here, by year.', fields({ from: whole(), to: whole() }), {
      output: fields({ 'years!': { type: 'object', additionalProperties: whole() } }),
      hints: READS,
    }),
    tool(
      'waste-calendar',
      'When which waste is collected in a street.',
      fields({ 'street!': text(), kind: choice(['paper', 'glass', 'compost', 'other']) }),
      { hints: READS },
    ),
    tool('noise-level', 'Noise at a measuring point, in decibels.', fields({ 'point!': text(), at: time() }), {
      output: fields({ 'decibels!': number() }),
      hints: READS,
    }),
  ],
};
