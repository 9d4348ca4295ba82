// A shop's orders, made up: one call answers with some 10 MB.
import { sequence, serve } from './stdio-server.mjs';

const COUNT = 47_000;
const CUSTOMERS = 500;
const STATUSES = ['paid', 'paid', 'paid', 'shipped', 'shipped', 'refunded', 'late'];
const PRODUCTS = ['lamp', 'kettle', 'chair', 'blanket', 'clock', 'teapot', 'shelf', 'mirror'];
const FIRST_DAY = Date.UTC(2025, 0, 1);
const DAY_MS = 86_400_000;

const next = sequence(7);
const pick = (list) => list[Math.floor(next() * list.length)];
const orders = Array.from({ length: COUNT }, (_, index) => ({
  id: `order-${String(index + 1).padStart(6, '0')}`,
  customerId: `customer-${1 + Math.floor(next() ** 2 * CUSTOMERS)}`,
  date: new Date(FIRST_DAY + Math.floor(next() * 365) * DAY_MS).toISOString().slice(0, 10),
  status: pick(STATUSES),
  product: pick(PRODUCTS),
  quantity: 1 + Math.floor(next() * 5),
  totalCents: 500 + Math.floor(next() * 40_000),
  note: 'Leave it with the neighbour if nobody opens the door, and do not ring twice.',
}));

const order = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    customerId: { type: 'string' },
    date: { type: 'string', format: 'date' },
    status: { enum: ['paid', 'shipped', 'refunded', 'late'] },
    product: { type: 'string' },
    quantity: { type: 'integer' },
    totalCents: { type: 'integer', description: 'Price of the whole order, in cents' },
    note: { type: 'string' },
  },
  required: ['id', 'customerId', 'date', 'status', 'product', 'quantity', 'totalCents', 'note'],
};

serve({
  name: 'orders',
  version: '1.0.0',
  instructions: 'Orders of a small shop in 2025.',
  tools: [
    {
      name: 'list_orders',
      description: 'Lists all orders, optionally only those with one status. There are very many.',
      inputSchema: { type: 'object', properties: { status: order.properties.status } },
      outputSchema: {
        type: 'object',
        properties: { orders: { type: 'array', items: order } },
        required: ['orders'],
      },
      run: ({ status }) => ({
        orders: status === undefined ? orders : orders.filter((each) => each.status === status),
      }),
    },
    {
      name: 'get_order',
      description: 'Gives one order by its id.',
      inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      outputSchema: order,
      run: ({ id }) => {
        const found = orders.find((each) => each.id === id);
        if (found === undefined) throw new Error(`there is no order ${id}`);
        return found;
      },
    },
  ],
});
