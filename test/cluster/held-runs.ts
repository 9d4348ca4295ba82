import { AGENT, type Cluster, type ClusterHost, PERSON } from './cluster.js';
import type { Gate, Gates, Step } from './gates.js';
import type { Question, Workload } from './workload.js';

export interface HeldRunsParts {
  readonly cluster: Cluster;
  readonly gates: Gates;
  readonly workload: Workload;
}

/** Where a run is when something happens to its host: about to write a step, waiting for a person, or for the server. */
export type Place = Step | 'suspended' | 'answer';

export const PLACES: readonly Place[] = [
  ...(['store', 'suspended', 'decide', 'claim', 'made', 'sent', 'answer', 'delivered', 'end'] as const),
];

/** Longer than any test: the server has the call, and its answer never comes. */
const NEVER_MS = 600_000;
const POLL_MS = 20;
const SUBMIT_MS = 60_000;
/** Those that nobody tries again, or that are another case when they are tried again. */
const LAST: readonly Place[] = ['delivered', 'decide', 'store'];

/** Runs of one host that make one write each, one of them at each place of the life of a run. */
export class HeldRuns {
  readonly #gates: Gate[] = [];
  readonly #parts: HeldRunsParts;
  readonly #host: ClusterHost;
  readonly #name: string;

  private constructor(parts: HeldRunsParts, host: ClusterHost, name: string) {
    this.#parts = parts;
    this.#host = host;
    this.#name = name;
  }

  /** Resolves when every run is at its place. The host must be the only one that is up. */
  static async at(parts: HeldRunsParts, host: ClusterHost, name: string): Promise<HeldRuns> {
    const held = new HeldRuns(parts, host, name);
    const later = PLACES.filter((place) => place !== 'store');
    await Promise.all(later.map((place) => held.#submit(place)));
    await Promise.all(later.filter((place) => !LAST.includes(place)).map((place) => held.#bring(place)));
    for (const place of LAST) await held.#bring(place);
    while (!(await held.#isComplete())) await pause();
    return held;
  }

  /** A statement that was held up for too long is over, and is tried again: all wait at the same time. */
  async #isComplete(): Promise<boolean> {
    return (await Promise.all(this.#gates.map((gate) => gate.isReached()))).every((isReached) => isReached);
  }

  /** The text of the call of the run at this place. */
  textOf(place: Place): string {
    return `${this.#name}-${place}`;
  }

  /** What waits is written, or not. Nobody is held up from here on. */
  async letGo(how: 'written' | 'lost'): Promise<void> {
    await Promise.all(this.#gates.map((gate) => (how === 'written' ? gate.open() : gate.refuse())));
  }

  async #submit(place: Place): Promise<void> {
    const text = this.textOf(place);
    const delayMs = place === 'answer' ? NEVER_MS : 0;
    const code = `
      const outcome = await mcp.ledger.write({ text: '${text}', delayMs: ${delayMs} })
        .then(() => 'done', (error) => String(error.message));
      return { '${text}': outcome };`;
    await this.#host.request('POST', '/api/v1/execute', AGENT, { code, capabilities: ['mcp:ledger'] }, SUBMIT_MS);
  }

  async #bring(place: Place): Promise<void> {
    if (place === 'store') return this.#store();
    const { id, runId } = await this.#question(place);
    if (place === 'suspended') return;
    const gate = place === 'answer' ? undefined : await this.#parts.gates.shut(place as Step, runId);
    if (gate !== undefined) this.#gates.push(gate);
    // Nobody waits for the answer: where the decision is held up, it does not come.
    this.#host.request('POST', `/api/v1/approvals/${id}/approve`, PERSON, {}).catch(() => {});
    if (gate !== undefined) return gate.reached();
    while (!this.#parts.cluster.ledger.includes(`write ${this.textOf(place)}`)) await pause();
  }

  async #store(): Promise<void> {
    const gate = await this.#parts.gates.shut('store');
    this.#gates.push(gate);
    this.#submit('store').catch(() => {});
    await gate.reached();
  }

  async #question(place: Place): Promise<Question> {
    for (;;) {
      const all = await this.#parts.workload.questions(this.#host);
      const found = all.find(({ arguments: { text } }) => text === this.textOf(place));
      if (found !== undefined) return found;
      await pause();
    }
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
