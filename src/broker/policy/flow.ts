import type { JsonObject, JsonValue } from '../../domain/json.js';
import { LABELS, type Label } from '../../domain/policy.js';
import type { Tool } from '../../domain/tool.js';
import { clipText, quoteVisibly } from '../../lib/text/visible-text.js';
import { FILES_SERVER } from '../../upstream/capabilities/files.js';
import { NETWORK_SERVER } from '../../upstream/capabilities/network.js';
import { SCRIPTS_SERVER } from '../capabilities/script-tools.js';
import type { Policy } from './policy.js';

/** Labels of servers whose answers are tracked. */
const WATCHED: readonly Label[] = ['private', 'untrusted'];

/**
 * The labelled servers that a run has received data from. The set only grows: what a program does with the data is not
 * tracked, so encoding the data evades nothing. Serialized to JSON for suspended runs.
 */
export class ReceivedData {
  /** By server, with the labels it had when the data arrived. */
  readonly #labels = new Map<string, ReadonlySet<Label>>();

  /** Every answer of a server counts as received data, including errors. */
  receive(serverId: string, labels: readonly Label[]): void {
    const watched = labels.filter((label) => WATCHED.includes(label));
    if (watched.length === 0) return;
    const known = this.#labels.get(serverId);
    if (known === undefined || watched.some((label) => !known.has(label)))
      this.#labels.set(serverId, new Set([...(known ?? []), ...watched]));
  }

  /** Adds what another run had received, because its result entered this run. */
  receiveAll(other: ReceivedData): void {
    for (const [serverId, labels] of other.#labels) this.receive(serverId, [...labels]);
  }

  from(label: Label): string[] {
    return [...this.#labels].flatMap(([serverId, labels]) => (labels.has(label) ? [serverId] : []));
  }

  get isEmpty(): boolean {
    return this.#labels.size === 0;
  }

  toJSON(): JsonObject {
    return Object.fromEntries([...this.#labels].map(([serverId, labels]) => [serverId, [...labels]]));
  }

  /** Throws if the value is not from `toJSON`: a run whose history cannot be read must not be resumed as if it had none. */
  static fromJSON(value: JsonValue): ReceivedData {
    const data = new ReceivedData();
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('no received data');
    for (const [serverId, labels] of Object.entries(value)) {
      if (!Array.isArray(labels) || !labels.every(isLabel)) throw new TypeError('no labels of received data');
      data.receive(serverId, labels);
    }
    return data;
  }
}

/** One reason why a person should look at a call. */
export interface FlowReason {
  readonly text: string;
  /** One part per server: an approval given when the run had data of one server does not cover data of another. */
  readonly parts: readonly string[];
}

/** Why a person should look at this call, given what its run has received; `undefined` if there is no reason. */
export function flowReason(
  policy: Policy,
  tool: Tool,
  serverPath: string,
  received: ReceivedData,
): readonly FlowReason[] | undefined {
  if (received.isEmpty) return undefined;
  const isExternal = hasExternalEffect(policy, tool);
  const reasons: FlowReason[] = [];
  const secret = isExternal ? received.from('private') : [];
  if (secret.length > 0)
    reasons.push({
      text: `the run has read private data from ${named(secret)}, and this call sends data to an external server`,
      parts: secret.map((server) => `private data from ${server}`),
    });
  const destructive = policy.destructive(tool, serverPath);
  const foreign = isExternal || destructive !== undefined ? received.from('untrusted') : [];
  if (foreign.length > 0) {
    const what = isExternal
      ? 'this call sends data to an external server'
      : `this call may be destructive (${destructive})`;
    reasons.push({
      text: `the run has read text from ${named(foreign)}, which may contain injected instructions, and ${what}`,
      parts: foreign.map((server) => `untrusted text from ${server}`),
    });
  }
  return reasons.length === 0 ? undefined : reasons;
}

/**
 * Whether the call sends data to a place where others may read it. Network requests and file writes always do. So does saving a
 * script, because every caller can read its name, description and source. These tools have no configured server that could
 * carry a label.
 */
function hasExternalEffect(policy: Policy, { serverId, name }: Tool): boolean {
  if (serverId === NETWORK_SERVER) return true;
  if (serverId === FILES_SERVER) return name === 'writeFile';
  if (serverId === SCRIPTS_SERVER) return name === 'save';
  return policy.traitsOf(serverId).labels.includes('external');
}

const MAX_NAMED = 3;

function named(servers: readonly string[]): string {
  const shown = servers.slice(0, MAX_NAMED).map((server) => clipText(quoteVisibly(server).slice(1, -1), 60));
  const more = servers.length > MAX_NAMED ? ` and ${servers.length - MAX_NAMED} more` : '';
  return shown.join(', ') + more;
}

function isLabel(value: JsonValue): value is Label {
  return (LABELS as readonly JsonValue[]).includes(value);
}
