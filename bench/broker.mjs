// @ts-check
// The broker as the host has it, in front of a server that answers at once.
import { loadProduct } from './product.mjs';

/** The one tool of that server. */
export const ECHO_SCHEMA = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };

/** Without `audit` nothing is recorded. */
export async function openBroker(audit) {
  const product = await loadProduct();
  const settings = product.policySettings(product.configSchema.parse({}).policy);
  const policy = new product.Policy({ settings, servers: new Map(), only: {} });
  const reply = ({ n }) => ({ content: [{ type: 'text', text: JSON.stringify({ n }) }], isError: false });
  const upstream = { call: async (call) => ({ status: 'answered', reply: reply(call.arguments) }) };
  return new product.Broker({
    registry: { has: () => true, get: () => upstream },
    checker: new product.ToolChecker(product.exampleInput),
    gate: new product.PolicyGate(policy, new product.Budgets({ settings })),
    limits: new product.CallLimits([]),
    isOutputStrict: false,
    redactor: new product.Redactor([], { patterns: true, emails: false, allow: [], extra: [] }),
    ...(audit && { audit }),
  });
}

/** A trail as the host has it, in a state folder of its own. */
export async function openTrail(folder) {
  const { AuditTrail, SqliteAuditStore, Database } = await loadProduct();
  const database = await Database.open(folder);
  const store = SqliteAuditStore.open(database, new Uint8Array(32).fill(7), folder);
  const trail = new AuditTrail({ open: async () => store, isRequired: true, retentionMs: 86_400_000 });
  return Object.assign(trail, { database });
}
