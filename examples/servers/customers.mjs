// Who bought it: 500 customers, made up.
import { sequence, serve } from './stdio-server.mjs';

const FIRST = ['Ada', 'Grace', 'Linus', 'Edsger', 'Barbara', 'Donald', 'Frances', 'Alan', 'Katherine', 'Dennis'];
const LAST = ['Okafor', 'Lindqvist', 'Moreau', 'Tanaka', 'Novak', 'Haddad', 'Silva', 'Kowalski', 'Byrne', 'Iyer'];
const CITIES = ['Lisbon', 'Oslo', 'Vienna', 'Ghent', 'Turin', 'Krakow', 'Cork', 'Basel'];

const next = sequence(11);
const pick = (list) => list[Math.floor(next() * list.length)];
const customers = Array.from({ length: 500 }, (_, index) => ({
  id: `customer-${index + 1}`,
  name: `${pick(FIRST)} ${pick(LAST)}`,
  city: pick(CITIES),
  isMember: next() < 0.3,
}));

const customer = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    city: { type: 'string' },
    isMember: { type: 'boolean' },
  },
  required: ['id', 'name', 'city', 'isMember'],
};

serve({
  name: 'customers',
  version: '1.0.0',
  instructions: 'Customers of the same shop.',
  tools: [
    {
      name: 'list_customers',
      description: 'Lists all customers with city and membership.',
      inputSchema: { type: 'object' },
      outputSchema: {
        type: 'object',
        properties: { customers: { type: 'array', items: customer } },
        required: ['customers'],
      },
      run: () => ({ customers }),
    },
    {
      name: 'get_customer',
      description: 'Gives one customer by id.',
      inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      outputSchema: customer,
      run: ({ id }) => {
        const found = customers.find((each) => each.id === id);
        if (found === undefined) throw new Error(`there is no customer ${id}`);
        return found;
      },
    },
  ],
});
