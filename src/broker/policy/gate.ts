import type { Tool } from '../../domain/tool.js';
import type { RunLedger } from '../run-ledger.js';
import { type Bill, type Budgets, FREE } from './budget.js';
import { flowReason } from './flow.js';
import type { Policy, PolicyCall, PolicyVerdict } from './policy.js';

/** The decision about a call, and the bill if it may be made at once. */
export type Judgement = PolicyVerdict & {
  /** If a person is asked: each reason by itself. The same reason has the same text in every call. */
  readonly reasons: readonly string[];
} & ({ readonly decision: 'allow'; readonly bill: Bill } | { readonly decision: 'ask' | 'deny' });

/** Everything that decides about a call: the rules, the data its run has received, and its cost. */
export class PolicyGate {
  readonly policy: Policy;
  readonly #budgets: Budgets;

  constructor(policy: Policy, budgets: Budgets) {
    this.policy = policy;
    this.#budgets = budgets;
  }

  /**
   * Decides, and pays for an allowed call. The decision is based on what the run had received when it made the call. Nothing is
   * awaited before that is read and the price is reserved, so that ten concurrent calls can't all spend the same remaining
   * amount. Never rejects.
   */
  async judge(call: PolicyCall, run: RunLedger): Promise<Judgement> {
    const { isFlowAllowed, ...verdict } = this.policy.decide(call);
    const { decision, reason, rule } = verdict;
    if (decision === 'deny') return { decision, reason, reasons: [], rule };
    try {
      const { tool, serverPath } = call;
      const flow = isFlowAllowed === true ? undefined : flowReason(this.policy, tool, serverPath, run.received);
      const price = this.#budgets.priceOf(tool, serverPath);
      if (decision === 'allow' && flow === undefined) {
        const paying = this.#budgets.payWithin(price, run);
        const bill = paying instanceof Promise ? await paying : paying;
        if (typeof bill !== 'string') return { decision, reason, reasons: [], rule, bill };
        return { decision: 'ask', reason: bill, reasons: [BUDGET.text], rule: BUDGET };
      }
      const over = await this.#budgets.overBudget(price, run);
      const asked = decision === 'ask' ? [{ text: reason, parts: [`${rule.text}: ${reason}`] }] : [];
      const all = [...asked, ...(flow ?? []), ...(over === undefined ? [] : [{ text: over, parts: [BUDGET.text] }])];
      return {
        decision: 'ask',
        reason: all.map(({ text }) => text).join('; '),
        reasons: all.flatMap(({ parts }) => parts),
        rule: decision === 'ask' ? rule : FLOW_GUARD,
      };
    } catch {
      return { decision: 'deny', reason: 'what the run may spend could not be found out', reasons: [], rule: BUDGET };
    }
  }

  /** Pays for a call that a person has approved; `undefined` if that can't be recorded. Then the call must not be made. */
  async payApproved({ tool, serverPath }: PolicyCall, run: RunLedger): Promise<Bill | undefined> {
    try {
      const price = this.#budgets.priceOf(tool, serverPath);
      return price === 0 ? FREE : await this.#budgets.pay(price, run);
    } catch {
      return undefined;
    }
  }

  /** Records that the program is about to receive data from this server. */
  received(serverId: string, run: RunLedger): void {
    run.received.receive(serverId, this.policy.traitsOf(serverId).labels);
  }

  /** Records that the program receives a result of an earlier run whose received data is unknown. */
  receivedUnknown(run: RunLedger): void {
    run.received.receive('an earlier run', this.policy.labelsInUse());
  }

  /** Records a call that the run made in an earlier process. */
  countEarlierCall(tool: Tool, serverPath: string, run: RunLedger): void {
    this.received(tool.serverId, run);
    run.spent += this.#budgets.priceOf(tool, serverPath);
  }

  /** The price of a call, in millionths. */
  priceOf({ tool, serverPath }: Pick<PolicyCall, 'tool' | 'serverPath'>): number {
    return this.#budgets.priceOf(tool, serverPath);
  }
}

const FLOW_GUARD: PolicyVerdict['rule'] = { kind: 'guard', text: 'the flow guard' };
const BUDGET: PolicyVerdict['rule'] = { kind: 'budget', text: 'policy.budget' };
