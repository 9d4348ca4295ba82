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
  readonly #gates = new Map<Place, Gate>();
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
    const stored = PLACES.filter((place) => place !== 'store');
    await Promise.all(stored.map((place) => held.#submit(place)));
    await Promise.all(stored.filter((place) => !LAST.includes(place)).map((place) => held.#bring(place)));
    for (const place of LAST) await held.#bring(place);
    while (!(await held.#isComplete())) await pause();
    return held;
  }

  /** The text of the call of the run at this place. */
  textOf(place: Place): string {
    return `${this.#name}-${place}`;
  }

  /** What waits is written, or not. Nobody is held up from here on. */
  async letGo(how: 'written' | 'lost'): Promise<void> {
    await Promise.all([...this.#gates.values()].map((gate) => (how === 'written' ? gate.open() : gate.refuse())));
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
    if (place === 'store') {
      const gate = await this.#shut(place);
      this.#submit(place).catch(() => {});
      return gate.reached();
    }
    const question = await this.#question(place);
    if (place === 'suspended') return;
    if (place === 'answer') {
      this.#approve(question);
      while (!this.#parts.cluster.ledger.includes(`write ${this.textOf(place)}`)) await pause();
      return;
    }
    const gate = await this.#shut(place, question.runId);
    this.#approve(question);
    await gate.reached();
  }

  async #shut(step: Step, runId?: string): Promise<Gate> {
    const gate = await this.#parts.gates.shut(step, runId);
    this.#gates.set(step, gate);
    return gate;
  }

  /** A statement that is held up for too long is over. The host tries it again, and here the person does. */
  async #isComplete(): Promise<boolean> {
    const gates = [...this.#gates];
    const waits = await Promise.all(gates.map(([, gate]) => gate.isReached()));
    const isUndecided = gates.some(([place], index) => place === 'decide' && waits[index] === false);
    if (isUndecided) this.#approve(await this.#question('decide'));
    return waits.every((isWaiting) => isWaiting);
  }

  /** Nobody waits for the answer: where the decision is held up, it does not come. */
  #approve({ id }: Question): void {
    this.#host.request('POST', `/api/v1/approvals/${id}/approve`, PERSON, {}, SUBMIT_MS).catch(() => {});
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
