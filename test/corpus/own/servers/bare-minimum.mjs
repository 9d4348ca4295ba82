import { fields, READS, text, tool } from '../build.mjs';

/** What is missing, empty, wrong or strange about schemas that real servers send. */
export const bareMinimum = {
  id: 'bare-minimum',
  server: 'Bare minimum',
  version: null,
  tools: [
    tool('no_schema', 'Has no input schema at all.'),
    tool('empty_schema', 'Its schema is empty: anything goes.', {}),
    tool('only_type', 'An object, and nothing is said of it.', { type: 'object' }),
    tool('no_properties', 'An object without properties.', { type: 'object', properties: {} }),
    tool('closed_object', 'Takes nothing at all.', { type: 'object', properties: {}, additionalProperties: false }),
    tool('properties_without_type', 'The type is left to the reader.', {
      properties: { a: text(), b: {} },
      required: ['a'],
    }),
    tool(
      'anything_goes',
      'Each property takes any value.',
      fields({ 'a!': {}, b: true, c: { description: 'Whatever.' } }),
    ),
    tool('unknown_required', 'Requires a key that it does not describe.', {
      type: 'object',
      properties: { a: text() },
      required: ['a', 'b'],
    }),
    tool(
      'empty_enum',
      'No value is allowed: a mistake of its author.',
      fields({ 'kind!': { type: 'string', enum: [] }, note: text() }),
    ),
    tool('unknown_type', 'Its type is of another language.', fields({ when: { type: 'datetime' }, 'name!': text() })),
    tool('dangling_reference', 'Refers to what is not there.', fields({ 'thing!': { $ref: '#/$defs/nowhere' } })),
    tool(
      'foreign_reference',
      'Refers to another document.',
      fields({ thing: { $ref: 'https://schemas.example/thing.json' }, 'a!': text() }),
    ),
    tool(
      'looks_ahead',
      'A pattern that looks ahead, which has no linear matcher.',
      fields({ 'password!': text('At least one digit.', { pattern: '^(?=.*[0-9]).{8,}$' }) }),
    ),
    tool('broken_pattern', 'A pattern that is none.', fields({ 'a!': text(undefined, { pattern: '[a-' }) })),
    tool('string_root', 'The root is a string.', { type: 'string' }),
    tool('array_root', 'The root is a list.', { type: 'array', items: text() }),
    tool('union_root', 'The root is one of two objects.', {
      oneOf: [fields({ 'by_id!': text() }), fields({ 'by_name!': text() })],
    }),
    tool('union_beside_properties', 'One of two keys must be there.', {
      ...fields({ id: text(), name: text(), verbose: { type: 'boolean' } }),
      anyOf: [{ required: ['id'] }, { required: ['name'] }],
    }),
    tool('all_of_root', 'The root is made of parts.', {
      type: 'object',
      allOf: [fields({ 'a!': text() }), fields({ b: { type: 'integer' } })],
    }),
    tool('list_output', 'Gives a list.', fields({}), { output: { type: 'array', items: text() }, hints: READS }),
    tool('text_output', 'Gives a text.', fields({}), { output: { type: 'string' }, hints: READS }),
    tool('nothing_output', 'Gives nothing.', fields({}), { output: { type: 'null' } }),
    tool('empty_output', 'Its output schema is empty.', fields({}), { output: {} }),
    tool(
      'extra_fields',
      'Has fields that nobody knows.',
      fields(
        { 'a!': text(undefined, { 'x-order': 1, widget: 'textarea' }) },
        { 'x-rate': 5, $comment: 'for editors', examples: [{ a: 'one' }] },
      ),
      { _meta: { 'example.invalid/tier': 'gold' }, icons: [{ src: 'data:,' }], unheardOf: [1, 2] },
    ),
    tool(
      'deprecated_key',
      'Has a key that should not be used any more.',
      fields({
        old: text(undefined, { deprecated: true }),
        'new!': text(undefined, { writeOnly: true }),
        shown: text(undefined, { readOnly: true }),
      }),
    ),
    tool(
      'wrong_default',
      'Its defaults do not fit.',
      fields({ 'count!': { type: 'integer', default: 'three' }, kind: { enum: ['a', 'b'], default: 'c' } }),
    ),
    tool(
      'contradiction',
      'Limits that exclude each other.',
      fields({ n: { type: 'integer', minimum: 10, maximum: 1 }, 'a!': text() }),
    ),
  ],
};
