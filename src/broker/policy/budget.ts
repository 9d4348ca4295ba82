import type { Budget, PolicySettings } from '../../domain/policy.js';
import type { Tool } from '../../domain/tool.js';
import type { Awaitable } from '../../lib/async/awaitable.js';
import type { SpendingStore } from '../../store/spending.js';
import type { RunLedger } from '../run-ledger.js';
import { fitsAnySpelling, readToolPattern, type ToolPattern } from './tool-pattern.js';

/** Amounts are integers in millionths, so that sums such as 0.1 + 0.2 are exact. */
const MILLIONTHS = 1_000_000;

export interface BudgetsOptions {
  readonly settings: Pick<PolicySettings, 'prices' | 'budget'>;
  /** Required if anything has a price. */
  readonly store?: SpendingStore;
  readonly now?: () => Date;
}

/** The cost of a call. Refunded if the call was not made. */
export interface Bill {
  giveBack(): Awaitable<void>;
}

export const FREE: Bill = { giveBack() {} };

type Spent = Awaited<ReturnType<SpendingStore['spendWithin']>>;

/** The run's share is reserved, but the day's budget was not checked yet. */
interface ReservedBill extends Bill {
  refuse(reason: string): string;
  fail(error: unknown): never;
}

/** Prices of calls, and how much a run and a day may cost before a person is asked. */
export class Budgets {
  readonly #prices: readonly { readonly pattern: ToolPattern; readonly amount: number }[];
  readonly #budget: Budget;
  readonly #store: SpendingStore | undefined;
  readonly #now: () => Date;
  readonly #known = new WeakMap<Tool, number>();

  constructor({ settings, store, now = () => new Date() }: BudgetsOptions) {
    this.#prices = Object.entries(settings.prices).map(([text, price]) => {
      const pattern = readToolPattern(text);
      if (pattern === undefined) throw new TypeError(`no tool pattern: ${text}`);
      return { pattern, amount: toMillionths(price) };
    });
    this.#budget = settings.budget;
    this.#store = store;
    this.#now = now;
  }

  /** The price of one call, in millionths. */
  priceOf(tool: Tool, serverPath: string): number {
    if (this.#prices.length === 0) return 0;
    let amount = this.#known.get(tool);
    if (amount === undefined) {
      amount = this.#prices.find(({ pattern }) => fitsAnySpelling(pattern, tool, serverPath))?.amount ?? 0;
      this.#known.set(tool, amount);
    }
    return amount;
  }

  /**
   * Pays for a call. If that exceeds a budget, returns the reason and pays nothing. Throws if the store fails. The run's share
   * is reserved before the store is asked, so that ten concurrent calls cannot all spend the same remaining amount.
   */
  payWithin(amount: number, run: RunLedger): Awaitable<Bill | string> {
    if (amount === 0) return FREE;
    const most = this.#budget.run === undefined ? Number.POSITIVE_INFINITY : toMillionths(this.#budget.run);
    if (run.spent + amount > most) return over('run', run.spent, amount, most);
    const day = this.#today();
    const mostOfDay = this.#budget.day === undefined ? Number.MAX_SAFE_INTEGER : toMillionths(this.#budget.day);
    const bill = this.#bill(amount, day, run);
    const told = ({ isSpent, before }: Spent) => (isSpent ? bill : bill.refuse(over('day', before, amount, mostOfDay)));
    try {
      const spent = this.#openStore().spendWithin(day, amount, mostOfDay);
      if (!(spent instanceof Promise)) return told(spent);
      return spent.then(told, (error: unknown) => bill.fail(error));
    } catch (error) {
      return bill.fail(error);
    }
  }

  /** Why a call exceeds a budget; `undefined` if it does not. Nothing is paid. Throws if the store fails. */
  async overBudget(amount: number, run: RunLedger): Promise<string | undefined> {
    const bill = await this.payWithin(amount, run);
    if (typeof bill === 'string') return bill;
    await bill.giveBack();
    return undefined;
  }

  /** Pays for a call that a person has approved, regardless of the budgets. */
  async pay(amount: number, run: RunLedger): Promise<Bill> {
    if (amount === 0) return FREE;
    const day = this.#today();
    await this.#openStore().spend(day, amount);
    return this.#bill(amount, day, run);
  }

  #bill(amount: number, day: string, run: RunLedger): ReservedBill {
    run.spent += amount;
    let isPaid = true;
    const drop = () => {
      if (isPaid) run.spent -= amount;
      isPaid = false;
    };
    return {
      giveBack: async () => {
        if (!isPaid) return;
        drop();
        try {
          await this.#store?.giveBack(day, amount);
        } catch {
          // The day then counts more than was spent. That is the safe side, and not a reason to lose the call's answer.
        }
      },
      refuse: (reason) => {
        drop();
        return reason;
      },
      fail: (error) => {
        drop();
        throw error;
      },
    };
  }

  #today(): string {
    return this.#now().toISOString().slice(0, 10);
  }

  #openStore(): SpendingStore {
    if (this.#store === undefined) throw new TypeError('tools have prices, but nothing keeps account of them');
    return this.#store;
  }
}

function over(span: 'run' | 'day', before: number, amount: number, most: number): string {
  const spent = span === 'run' ? 'this run has spent' : 'today (UTC) has cost';
  return `it costs ${toText(amount)}, ${spent} ${toText(before)}, and the budget of a ${span} is ${toText(most)}`;
}

function toMillionths(amount: number): number {
  return Math.round(amount * MILLIONTHS);
}

export function toText(amount: number): string {
  return String(amount / MILLIONTHS);
}
