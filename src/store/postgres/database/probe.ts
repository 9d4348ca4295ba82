import { within } from '../../../lib/async/within.js';
import type { Postgres } from './connection.js';

/** A slower answer counts as no answer: the load balancer has other hosts to choose from. */
const ANSWER_MS = 1_000;
/** Anybody may request the probe, so the database is asked at most this often. */
const KEPT_MS = 500;

/** Whether the database answers, for load balancers that ask every second or two. */
export class Probe {
  readonly #postgres: Postgres;
  #answer: Promise<boolean> | undefined;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  isUp(): Promise<boolean> {
    this.#answer ??= this.#ask();
    return this.#answer;
  }

  async #ask(): Promise<boolean> {
    const answered = this.#postgres.query('SELECT 1', [], { timeoutMs: ANSWER_MS }).then(
      () => true,
      () => false,
    );
    const isUp = (await within(answered, ANSWER_MS)) === true;
    setTimeout(() => {
      this.#answer = undefined;
    }, KEPT_MS).unref();
    return isUp;
  }
}
