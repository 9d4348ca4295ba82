// Short names for the parts of a tool definition, so that a server of the corpus reads like a list of its tools.

export const text = (description, more) => ({ type: 'string', ...described(description), ...more });
export const whole = (description, more) => ({ type: 'integer', ...described(description), ...more });
export const number = (description, more) => ({ type: 'number', ...described(description), ...more });
export const flag = (description, more) => ({ type: 'boolean', ...described(description), ...more });
export const choice = (values, description, more) => ({
  type: 'string',
  enum: values,
  ...described(description),
  ...more,
});
export const list = (items, description, more) => ({ type: 'array', items, ...described(description), ...more });
export const reference = (name, folder = '$defs') => ({ $ref: `#/${folder}/${name}` });
export const orNull = (schema) => ({ anyOf: [schema, { type: 'null' }] });
export const date = (description) => text(description, { format: 'date' });
export const time = (description) => text(description, { format: 'date-time' });

/** An object schema. A key that ends in `!` is required: `fields({ 'id!': text(), note: text() })`. */
export function fields(properties, more) {
  const required = Object.keys(properties).filter(isRequired).map(nameOf);
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([key, schema]) => [nameOf(key), schema])),
    ...(required.length > 0 && { required }),
    ...more,
  };
}

export const READS = { readOnlyHint: true };
export const WRITES = { readOnlyHint: false, destructiveHint: false };
export const DESTROYS = { readOnlyHint: false, destructiveHint: true };

/** One tool. `more` has `output`, `hints` and everything else that a definition may have. */
export function tool(name, description, inputSchema, { output, hints, ...more } = {}) {
  return {
    name,
    ...(description !== undefined && { description }),
    ...(inputSchema !== undefined && { inputSchema }),
    ...(output !== undefined && { outputSchema: output }),
    ...(hints !== undefined && { annotations: hints }),
    ...more,
  };
}

export const snake = (...words) => words.join(' ').toLowerCase().split(' ').join('_');
export const kebab = (...words) => words.join(' ').toLowerCase().split(' ').join('-');
export const camel = (...words) =>
  words
    .join(' ')
    .toLowerCase()
    .replace(/ (\p{L})/gu, (_, letter) => letter.toUpperCase());

/**
 * The tools that servers made from an API description have for one kind of thing: list, get, create, update, delete.
 *
 * @param {{
 *   one: string, many: string, about: string, fields: Record<string, object>, filters?: Record<string, object>,
 *   id?: string, nameTool?: (...words: string[]) => string, leaveOut?: readonly string[], hasOutput?: boolean,
 *   hasHints?: boolean, schema?: object,
 * }} kind `about` is the end of a sentence: "a plot, with its size and its tenant"
 */
export function crud(kind) {
  const { one, many, about, filters = {}, nameTool = snake, leaveOut = [], hasOutput = false, schema = {} } = kind;
  const id = kind.id ?? nameTool(one, 'id');
  const named = { [`${id}!`]: text(`Which ${one}.`) };
  const optional = Object.fromEntries(Object.entries(kind.fields).map(([key, field]) => [nameOf(key), field]));
  const item = fields({ 'id!': text(), ...kind.fields });
  const page = fields({ 'items!': list(item), next_cursor: { type: ['string', 'null'] } });
  const make = (verb, description, input, output, hints) => [
    verb,
    tool(
      nameTool(verb, verb === 'list' ? many : one),
      description,
      { ...input, ...schema },
      {
        ...(hasOutput && { output }),
        ...(kind.hasHints === false ? {} : { hints }),
      },
    ),
  ];
  const tools = [
    make('list', `Lists ${many}, page by page.`, fields({ ...filters, ...PAGE }), page, READS),
    make('get', `Gets ${about}.`, fields(named), item, READS),
    make('create', `Adds ${about}.`, fields(kind.fields), item, WRITES),
    make(
      'update',
      `Changes ${one} fields; those that are not given stay as they are.`,
      fields({ ...named, ...optional }),
      item,
      WRITES,
    ),
    make(
      'delete',
      `Deletes ${/^[aeiou]/.test(one) ? 'an' : 'a'} ${one} for good.`,
      fields(named),
      fields({ 'deleted!': flag() }),
      DESTROYS,
    ),
  ];
  return tools.filter(([verb]) => !leaveOut.includes(verb)).map(([, made]) => made);
}

const PAGE = {
  cursor: text('Where the page before this one ended.'),
  limit: whole('Most items on a page.', { minimum: 1, maximum: 200, default: 50 }),
};

function described(description) {
  return description === undefined ? {} : { description };
}

function isRequired(key) {
  return key.length > 1 && key.endsWith('!');
}

function nameOf(key) {
  return isRequired(key) ? key.slice(0, -1) : key;
}
