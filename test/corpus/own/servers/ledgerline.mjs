import {
  choice,
  crud,
  date,
  fields,
  flag,
  list,
  number,
  READS,
  reference,
  text,
  time,
  tool,
  WRITES,
  whole,
} from '../build.mjs';

/** Fields as an accounting package has them: many, alike, each with a sentence. */
const many = (prefix, count, about) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `${prefix}_${index + 1}`,
      text(`${about} ${index + 1}. Left empty where the chart of accounts does not ask for it.`, { maxLength: 255 }),
    ]),
  );

const MONEY = fields({
  'amount!': text('As a decimal, such as 12.50.', { pattern: '^-?[0-9]+(\\.[0-9]{1,4})?$' }),
  'currency!': text(undefined, { pattern: '^[A-Z]{3}$' }),
});
const ADDRESS = fields({
  line_1: text(),
  line_2: text(),
  town: text(),
  postcode: text(),
  country: text(undefined, { minLength: 2, maxLength: 2 }),
});
const BOOKS = {
  money: MONEY,
  address: ADDRESS,
  party: fields({
    'name!': text(),
    addresses: list(reference('address')),
    tax_numbers: { type: 'object', additionalProperties: text() },
    ...many('reference', 12, 'Reference of the other side, number'),
  }),
  line: fields({
    'account!': text(),
    'value!': reference('money'),
    tax: reference('tax'),
    dimensions: { type: 'object', additionalProperties: text() },
    ...many('analysis', 20, 'Analysis code'),
  }),
  tax: fields({
    'rate!': number(undefined, { minimum: 0, maximum: 100 }),
    'code!': text(),
    parts: list(reference('tax')),
  }),
  entry: fields({
    'on!': date(),
    'lines!': list(reference('line'), undefined, { minItems: 2 }),
    party: reference('party'),
    attachments: list(reference('attachment')),
    reverses: { anyOf: [reference('entry'), { type: 'null' }] },
    ...many('custom', 30, 'Field that the company has defined, number'),
  }),
  attachment: fields({
    'name!': text(),
    'url!': text(undefined, { format: 'uri' }),
    size: whole(undefined, { minimum: 0 }),
  }),
};
const withBooks = (schema) => ({ ...schema, $defs: BOOKS });
const inline = {
  ...fields({ 'on!': date(), memo: text() }),
  properties: {
    on: date(),
    memo: text(),
    ...many('custom', 90, 'Field that the company has defined, number'),
    ...many('analysis', 60, 'Analysis code'),
    ...many('reference', 40, 'Reference'),
  },
};

const ACCOUNT = {
  'number!': text(undefined, { pattern: '^[0-9]{4,6}$' }),
  'name!': text(),
  kind: choice(['asset', 'liability', 'equity', 'income', 'expense']),
  tax_code: text(),
  is_closed: flag(),
};
const CUSTOMER = {
  'name!': text(),
  address: ADDRESS,
  terms_days: whole(undefined, { minimum: 0, maximum: 120, default: 14 }),
  credit_limit: MONEY,
  contacts: list(
    fields({
      'name!': text(),
      'email!': text(undefined, { format: 'email' }),
      role: choice(['buyer', 'payer', 'other']),
    }),
  ),
};
const SUPPLIER = { 'name!': text(), address: ADDRESS, bank: fields({ 'account!': text(), bank_code: text() }) };
const BILL = {
  'supplier_id!': text(),
  'due!': date(),
  'lines!': list(fields({ 'account!': text(), 'value!': MONEY, note: text() }), undefined, { minItems: 1 }),
};
const BUDGET = {
  'year!': whole(undefined, { minimum: 2000, maximum: 2100 }),
  'account!': text(),
  'months!': list(number(), undefined, { minItems: 12, maxItems: 12 }),
};
const ASSET = {
  'name!': text(),
  'bought_on!': date(),
  'cost!': MONEY,
  life_years: whole(undefined, { minimum: 1, maximum: 50 }),
  method: choice(['linear', 'declining']),
};

/** A large server made from an API description: many tools alike, and a few whose schemas are very large. */
export const ledgerline = {
  id: 'ledgerline',
  server: 'Ledgerline',
  version: '2031.06.0',
  description: 'Double-entry bookkeeping for small companies.',
  tools: [
    ...crud({
      one: 'account',
      many: 'accounts',
      about: 'an account of the chart',
      fields: ACCOUNT,
      hasOutput: true,
      filters: { kind: ACCOUNT.kind },
    }),
    ...crud({
      one: 'customer',
      many: 'customers',
      about: 'a customer, with address and terms',
      fields: CUSTOMER,
      hasOutput: true,
      filters: { name: text('Part of the name.') },
    }),
    ...crud({
      one: 'supplier',
      many: 'suppliers',
      about: 'a supplier, with bank details',
      fields: SUPPLIER,
      hasOutput: true,
    }),
    ...crud({
      one: 'bill',
      many: 'bills',
      about: 'a bill of a supplier',
      fields: BILL,
      hasOutput: true,
      filters: { supplier_id: text(), due_before: date() },
    }),
    ...crud({
      one: 'budget',
      many: 'budgets',
      about: 'what one account may spend, month by month',
      fields: BUDGET,
      hasOutput: true,
    }),
    ...crud({
      one: 'asset',
      many: 'assets',
      about: 'a fixed asset and how it is written off',
      fields: ASSET,
      hasOutput: true,
    }),
    tool(
      'post_entry',
      'Books an entry. Debits and credits must be equal.',
      withBooks(fields({ 'entry!': reference('entry'), allow_closed_period: flag(undefined, { default: false }) })),
      { output: withBooks(fields({ 'id!': text(), 'entry!': reference('entry') })), hints: WRITES },
    ),
    tool(
      'post_entries',
      'Books many entries at once, or none of them.',
      withBooks(fields({ 'entries!': list(reference('entry'), undefined, { minItems: 1, maxItems: 500 }) })),
      { output: fields({ 'ids!': list(text()) }), hints: WRITES },
    ),
    tool('reverse_entry', 'Books the opposite of an entry.', fields({ 'id!': text(), on: date() }), { hints: WRITES }),
    tool('import_statement', 'Reads a bank statement; every field of the company may be filled.', inline, {
      hints: WRITES,
    }),
    tool('describe_entry', 'Every field that an entry can have, with its value.', fields({ 'id!': text() }), {
      output: inline,
      hints: READS,
    }),
    tool(
      'search_entries',
      'Searches entries by text, amount or account.',
      fields({ words: text(), account: text(), from: date(), to: date(), least: number(), most: number() }),
      { output: withBooks(fields({ 'entries!': list(reference('entry')), total: whole() })), hints: READS },
    ),
    tool('trial_balance', 'Sums of all accounts at a day.', fields({ 'on!': date(), with_zero: flag() }), {
      output: fields({ 'rows!': list(fields({ 'account!': text(), 'debit!': text(), 'credit!': text() })) }),
      hints: READS,
    }),
    tool(
      'profit_and_loss',
      'Income and expense between two days.',
      fields({ 'from!': date(), 'to!': date(), compare_with: choice(['none', 'previous', 'year_before', 'budget']) }),
      { hints: READS },
    ),
    tool('balance_sheet', 'What the company owns and owes at a day.', fields({ 'on!': date() }), { hints: READS }),
    tool(
      'open_invoices',
      'Invoices that are not paid, the oldest first.',
      fields({ customer_id: text(), overdue_only: flag() }),
      {
        output: fields({
          'invoices!': list(fields({ 'number!': text(), 'due!': date(), 'open!': MONEY, reminders: whole() })),
        }),
        hints: READS,
      },
    ),
    tool(
      'send_reminder',
      'Sends a reminder for an invoice that is overdue.',
      fields({ 'invoice!': text(), tone: choice(['kind', 'firm', 'last']) }),
      { hints: { ...WRITES, openWorldHint: true } },
    ),
    tool(
      'pay_bill',
      'Pays a bill from the bank account of the company.',
      fields({ 'bill_id!': text(), 'from_account!': text(), on: date() }),
      { hints: { ...WRITES, openWorldHint: true } },
    ),
    tool(
      'close_period',
      'Closes a month. Nothing can be booked in it any more.',
      fields({ 'month!': text(undefined, { pattern: '^[0-9]{4}-[0-9]{2}$' }) }),
      { hints: WRITES },
    ),
    tool(
      'exchange_rate',
      'The rate between two currencies on a day.',
      fields({ 'from!': text(), 'to!': text(), on: date() }),
      {
        output: fields({ 'rate!': number(undefined, { exclusiveMinimum: 0 }), as_of: time() }),
        hints: { ...READS, openWorldHint: true },
      },
    ),
  ],
};
