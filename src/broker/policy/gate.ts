import type { Tool } from '../../domain/tool.js';
import type { RunLedger } from '../run-ledger.js';
import { type Bill, type Budgets, FREE } from './budget.js';
import { flowReason } from './flow.js';
import type { Policy, PolicyQuestion, PolicyVerdict } from './policy.js';

/** What becomes of a call, and what was paid for it where it may be made at once. */
export type Judgement = PolicyVerdict & {
  /** Of a call that a person is asked about: each reason by itself, in words that two calls share where it is the same one. */
  readonly reasons: readonly string[];
} & ({ readonly decision: 'allow'; readonly bill: Bill } | { readonly decision: 'ask' | 'deny' });

/** Everything that decides about a call: the rules, what its run has received, and what it costs. */
export class PolicyGate {
  readonly policy: Policy;
  readonly #budgets: Budgets;

  constructor(policy: Policy, budgets: Budgets) {
    this.policy = policy;
    this.#budgets = budgets;
  }

  /**
   * Decides, and pays for what is allowed. What counts is what the run held when it made the call: nothing is waited for before
   * that is known and the price is reserved, so that ten calls made at once can't all spend the same last coin. Never rejects.
   */
  async judge(question: PolicyQuestion, run: RunLedger): Promise<Judgement> {
    const { isFlowAllowed, ...verdict } = this.policy.decide(question);
    const { decision, reason, rule } = verdict;
    if (decision === 'deny') return { decision, reason, reasons: [], rule };
    try {
      const { tool, serverPath } = question;
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

  /** Pays for a call that a person has approved; `undefined` where that can't be recorded: then it is not to be made. */
  async payApproved({ tool, serverPath }: PolicyQuestion, run: RunLedger): Promise<Bill | undefined> {
    try {
      const price = this.#budgets.priceOf(tool, serverPath);
      return price === 0 ? FREE : await this.#budgets.pay(price, run);
    } catch {
      return undefined;
    }
  }

  /** Notes that the program is about to get something that this server said. */
  received(serverId: string, run: RunLedger): void {
    run.received.receive(serverId, this.policy.traitsOf(serverId).labels);
  }

  /** Notes that the program gets what an earlier run made of data that nobody has kept book of. */
  receivedUnknown(run: RunLedger): void {
    run.received.receive('an earlier run', this.policy.labelsInUse());
  }

  /** Notes a call that the run made in a process that is gone. */
  countEarlierCall(tool: Tool, serverPath: string, run: RunLedger): void {
    this.received(tool.serverId, run);
    run.spent += this.#budgets.priceOf(tool, serverPath);
  }

  /** What a call costs, in millionths. */
  priceOf({ tool, serverPath }: Pick<PolicyQuestion, 'tool' | 'serverPath'>): number {
    return this.#budgets.priceOf(tool, serverPath);
  }
}

const FLOW_GUARD: PolicyVerdict['rule'] = { kind: 'guard', text: 'the flow guard' };
const BUDGET: PolicyVerdict['rule'] = { kind: 'budget', text: 'policy.budget' };
