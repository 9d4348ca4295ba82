// What did the year look like? Ten megabytes go in, a dozen lines come out.
import { list_orders } from '@codemode/servers/orders';

const { orders } = await list_orders();

const months: Record<string, { orders: number; revenue: number; refunds: number }> = {};
for (const { date, status, totalCents } of orders) {
  const key = date.slice(0, 7);
  months[key] ??= { orders: 0, revenue: 0, refunds: 0 };
  const month = months[key];
  month.orders += 1;
  if (status === 'refunded') month.refunds += 1;
  else month.revenue += totalCents;
}

console.log(`read ${orders.length} orders, the first from ${orders[0]?.date}`);
globalThis.__codemode_result__ = Object.entries(months)
  .sort(([left], [right]) => (left < right ? -1 : 1))
  .map(([month, { revenue, ...counts }]) => ({ month, ...counts, revenue: Math.round(revenue / 100) }));
