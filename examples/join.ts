// Who are the best customers, and where do they live? The orders are on one server, the people on another.
import { list_customers } from '@codemode/servers/customers';
import { list_orders } from '@codemode/servers/orders';

const [{ orders }, { customers }] = await Promise.all([list_orders({ status: 'paid' }), list_customers()]);

const spentCents = new Map<string, number>();
for (const { customerId, totalCents } of orders) {
  spentCents.set(customerId, (spentCents.get(customerId) ?? 0) + totalCents);
}
const people = new Map(customers.map((customer) => [customer.id, customer]));

console.log(`joined ${orders.length} orders with ${customers.length} customers`);
globalThis.__codemode_result__ = [...spentCents]
  .sort(([, left], [, right]) => right - left)
  .slice(0, 5)
  .map(([id, cents]) => ({ name: people.get(id)?.name, city: people.get(id)?.city, spent: cents / 100 }));
