import {
  choice,
  crud,
  DESTROYS,
  fields,
  flag,
  list,
  number,
  READS,
  text,
  time,
  tool,
  WRITES,
  whole,
} from '../build.mjs';

const HULL = {
  'name!': text('Until she is christened.'),
  'slip!': whole(undefined, { minimum: 1, maximum: 9 }),
  'length_metres!': number(undefined, { exclusiveMinimum: 0 }),
  material: choice(['oak', 'steel', 'aluminium', 'ferrocement']),
  launched_at: time(),
};
const TASK = {
  'hull_id!': text('Which hull.'),
  'title!': text(),
  trade: choice(['carpenter', 'welder', 'rigger', 'painter', 'electrician']),
  hours: number(undefined, { minimum: 0.25, multipleOf: 0.25 }),
  after: list(text(), 'Tasks that must be done before.'),
};
const RIVET = { 'hull_id!': text('Which hull.'), 'row!': whole(), 'seam!': text(), 'torque!': number() };

/** Work in progress: tasks, logs, and outputs with long lists. */
export const shipyard = {
  id: 'shipyard',
  server: 'Shipyard',
  version: '0.14.2',
  description: 'Hulls on their slips, tasks of the trades, inspections.',
  tools: [
    ...crud({
      one: 'hull',
      many: 'hulls',
      about: 'a hull, with its slip and its length',
      fields: HULL,
      hasOutput: true,
    }),
    ...crud({
      one: 'task',
      many: 'tasks',
      about: 'a task of one of the trades',
      fields: TASK,
      filters: { trade: TASK.trade, open_only: flag() },
    }),
    ...crud({ one: 'rivet', many: 'rivets', about: 'one rivet', fields: RIVET, leaveOut: ['delete', 'update'] }),
    tool('critical_path', 'Which tasks decide when a hull is ready.', fields({ 'hull_id!': text() }), {
      output: fields({ 'tasks!': list(fields({ 'id!': text(), 'slack_hours!': number() })), 'ready_at!': time() }),
      hints: READS,
    }),
    tool(
      'search_log',
      'Searches the log of the yard.',
      fields({ 'words!': text(), from: time(), to: time(), level: choice(['note', 'warning', 'accident']) }),
      {
        output: fields({ 'lines!': list(fields({ 'at!': time(), 'line!': text(), by: text() })), total: whole() }),
        hints: READS,
      },
    ),
    tool(
      'tail_log',
      'The last lines of the log of the yard.',
      fields({ lines: whole(undefined, { minimum: 1, maximum: 1000, default: 50 }) }),
      { output: fields({ 'lines!': list(text()) }), hints: READS },
    ),
    tool(
      'inspect_weld',
      'Judges a weld by its X-ray.',
      fields({ 'picture!': text(undefined, { format: 'uri' }), standard: choice(['B', 'C', 'D']) }),
      {
        output: fields({
          'verdict!': choice(['good', 'repair', 'reject']),
          pores: list({ type: 'array', prefixItems: [number(), number(), number()], items: false, minItems: 3 }),
        }),
        hints: READS,
      },
    ),
    tool('assign_trade', 'Gives a task to a person.', fields({ 'task_id!': text(), 'person!': text(), from: time() }), {
      hints: WRITES,
    }),
    tool(
      'launch_hull',
      'Lets a hull down the slip into the water.',
      fields({ 'hull_id!': text(), 'tide_checked!': flag() }),
      { hints: DESTROYS },
    ),
    tool('scrap_hull', 'Breaks a hull up.', fields({ 'hull_id!': text() }), { hints: DESTROYS }),
    tool(
      'exec_crane_program',
      'Runs a program of the crane.',
      fields({ 'program!': text('In the language of the crane.') }),
      { hints: WRITES },
    ),
    tool(
      'deploy_divers',
      'Sends divers under a hull.',
      fields({ 'hull_id!': text(), 'divers!': whole(undefined, { minimum: 2, maximum: 6 }) }),
      { hints: WRITES },
    ),
    tool(
      'paint_needed',
      'How many litres of paint a hull needs.',
      fields({ 'hull_id!': text(), coats: whole(undefined, { minimum: 1, maximum: 5, default: 2 }) }),
      { hints: READS },
    ),
  ],
};
