// @ts-check
// Callers that come, stay for a while and go, so many at a time; and the moments when all of them pause.
import { WORK } from './work.mjs';

/** How long a caller stays, in requests: it has a worker process of its own for as long, and starting one costs most. */
const MOST_IN_A_ROW = 2_000;
const MOST_IN_PASSING = 200;
/** Requests of one caller at a time. */
const LANES_OF_A_CALLER = 3;
const TOTAL_WEIGHT = WORK.reduce((sum, { weight }) => sum + weight, 0);

/** @typedef {{ runs: number, busy: number, unexpected: number, problems: string[], kinds: Record<string, number> }} Account */

export class Lanes {
  /** @type {Account} */
  account = { runs: 0, busy: 0, unexpected: 0, problems: [], kinds: {} };
  #client;
  #tokens;
  #person;
  #most;
  #isOver = false;
  #underWay = 0;
  #serial;
  /** @type {(() => void) | undefined} */
  #onStill;
  /** @type {Promise<void> | undefined} */
  #rest;

  /** @param {{ client: import('./client.mjs').SoakClient, tokens: string[], person: string, runs: number, serial: number }} options */
  constructor({ client, tokens, person, runs, serial }) {
    this.#client = client;
    this.#tokens = tokens;
    this.#person = person;
    this.#most = runs;
    this.#serial = serial;
  }

  get isOver() {
    return this.#isOver || this.account.runs + this.#underWay >= this.#most;
  }

  end() {
    this.#isOver = true;
  }

  /** Works until all runs are made or somebody ends it. @param {number} width */
  async work(width) {
    const callers = Math.max(1, Math.ceil(width / LANES_OF_A_CALLER));
    await Promise.all(Array.from({ length: callers }, (_, place) => this.#place(place)));
  }

  /** Does something while nothing is in progress. @template T @param {() => Promise<T>} action @returns {Promise<T>} */
  async quietly(action) {
    let goOn = () => {};
    this.#rest = new Promise((resolve) => {
      goOn = resolve;
    });
    try {
      if (this.#underWay > 0)
        await new Promise((resolve) => {
          this.#onStill = () => resolve(undefined);
        });
      return await action();
    } finally {
      this.#rest = undefined;
      goOn();
    }
  }

  /** At the first place callers only pass by: there is always one without a worker. @param {number} place */
  async #place(place) {
    while (!this.isOver) {
      const token = this.#tokens[Math.floor(Math.random() * this.#tokens.length)] ?? '';
      let left = 1 + Math.floor(Math.random() * (place === 0 ? MOST_IN_PASSING : MOST_IN_A_ROW));
      const lane = async () => {
        while (left-- > 0) {
          while (this.#rest !== undefined) await this.#rest;
          if (this.isOver) return;
          await this.#turn(token);
        }
      };
      await Promise.all(Array.from({ length: LANES_OF_A_CALLER }, lane));
    }
  }

  /** @param {string} token */
  async #turn(token) {
    const kind = anyKind();
    const { account } = this;
    this.#underWay += 1;
    try {
      const turn = { client: this.#client, token, person: this.#person, serial: this.#serial++ };
      if ((await kind.run(turn)) === 'busy') account.busy += 1;
    } catch (error) {
      account.unexpected += 1;
      if (account.problems.length < 50) account.problems.push(`${kind.name}: ${error.message}`);
    } finally {
      account.runs += 1;
      account.kinds[kind.name] = (account.kinds[kind.name] ?? 0) + 1;
      this.#underWay -= 1;
      if (this.#underWay === 0) {
        this.#onStill?.();
        this.#onStill = undefined;
      }
    }
  }
}

function anyKind() {
  let left = Math.random() * TOTAL_WEIGHT;
  const found = WORK.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  return found ?? /** @type {import('./work.mjs').Kind} */ (WORK[0]);
}
