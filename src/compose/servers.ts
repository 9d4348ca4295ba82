import type { Credentials } from '../broker/credentials/credentials.js';
import { credentialsOf } from '../broker/redaction/known-secrets.js';
import type { Redactor } from '../broker/redaction/redactor.js';
import { loadConfig } from '../config/load.js';
import type { DisabledServer } from '../config/schema/broken-servers.js';
import { inheritedEnvironment, readEnvironment } from '../config/variables/environment.js';
import { depthForServers } from '../config/variables/nesting-depth.js';
import { HostError, isHostError } from '../domain/errors.js';
import type { ServerTraits } from '../domain/policy.js';
import type { Audience } from '../domain/question.js';
import { kindOf, type UpstreamTarget } from '../domain/targets/targets.js';
import type { UpstreamDefinition } from '../domain/upstream.js';
import type { ServerControl, ServerFacts } from '../host/servers/server-control.js';
import { ifDefined, omitUndefined } from '../lib/omit-undefined.js';
import { visibleLine } from '../lib/text/visible-text.js';
import type { Adapter } from '../upstream/adapter.js';
import { DisabledUpstream } from '../upstream/disabled-upstream.js';
import { UpstreamRegistry } from '../upstream/registry.js';
import { fingerprint } from './server-identity.js';

export interface ServersOptions {
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** Updated here; other parts only read it. */
  readonly definitions: Map<string, UpstreamDefinition>;
  /** Servers that the configuration names and that cannot be used. */
  readonly disabled: readonly Pick<DisabledServer, 'id' | 'reason'>[];
  /** Functions of this process, offered as servers. */
  readonly adapters: readonly Adapter[];
  readonly audience: Audience;
  readonly redactor: Redactor;
  /** Loaded when the first server is connected. */
  readonly openCredentials: () => Promise<Credentials>;
}

/** All servers, and what the other parts know about each. A part of `compose/compose.ts`. */
export class Servers implements ServerControl {
  readonly registry: UpstreamRegistry;
  /** Policy, retries, catalog and approvals read the current content. */
  readonly definitions: Map<string, UpstreamDefinition>;
  readonly traits = new Map<string, ServerTraits>();
  readonly #redactor: Redactor;
  readonly #disabled = new Set<string>();

  constructor(options: ServersOptions) {
    const { clientInfo, definitions, disabled, adapters, audience, redactor, openCredentials } = options;
    const environment = readEnvironment();
    let credentials: Promise<Credentials> | undefined;
    this.#redactor = redactor;
    this.definitions = definitions;
    this.registry = new UpstreamRegistry({
      clientInfo,
      baseEnvironment: { ...inheritedEnvironment(environment), ...depthForServers(environment) },
      audience,
      authorizerFor: async (definition) => {
        if (kindOf(definition.target).login !== 'possible') return undefined;
        credentials ??= openCredentials();
        return (await credentials).authorizerFor(definition);
      },
    });
    for (const definition of definitions.values()) this.#add(definition);
    for (const { id, reason } of disabled) {
      this.#disabled.add(id);
      this.registry.add(new DisabledUpstream(id, redactor.text(reason)));
      this.traits.set(id, { isTrusted: false, labels: [] });
    }
    for (const adapter of adapters) this.addAdapter(adapter);
  }

  async register(name: string, settings: unknown): Promise<void> {
    const definition = await readServer(name, settings);
    this.#add(definition);
    this.definitions.set(name, definition);
    for (const secret of credentialsOf(definition)) this.#redactor.add(secret);
  }

  /** The user wrote these functions and vouches for their metadata. */
  addAdapter(adapter: Adapter): void {
    this.registry.add(adapter);
    this.traits.set(adapter.id, { isTrusted: true, labels: [], isJudgedByName: true });
  }

  async unregister(name: string): Promise<void> {
    const definition = this.definitions.get(name);
    await this.registry.unregister(name);
    this.definitions.delete(name);
    this.#disabled.delete(name);
    this.traits.delete(name);
    // Last, so that the server's output during shutdown is redacted too.
    if (definition !== undefined) for (const secret of credentialsOf(definition)) this.#redactor.remove(secret);
  }

  describe(name: string): ServerFacts | undefined {
    if (!this.registry.has(name)) return undefined;
    const definition = this.definitions.get(name);
    const type = definition === undefined ? undefined : authOf(definition);
    return { source: this.registry.get(name).kind, ...omitUndefined({ auth: ifDefined(type, (type) => ({ type })) }) };
  }

  /** Digest of how a server is reached, secrets included. Only the digest is ever written. */
  fingerprintOf(id: string): string {
    // No listing is stored under this digest, so a listing of another server with the same name is never offered.
    if (this.#disabled.has(id)) return fingerprint(['disabled', id]);
    return fingerprint(withoutInherited(this.definitions.get(id)?.target));
  }

  #add(definition: UpstreamDefinition): void {
    const { id, isTrusted, labels } = definition;
    this.registry.register(definition);
    this.traits.set(id, { isTrusted, labels });
  }
}

async function readServer(name: string, settings: unknown): Promise<UpstreamDefinition> {
  // As in a file: a copy of the settings would drop it.
  if (name === '__proto__')
    throw new HostError('bad_input', 'a server cannot be called "__proto__"; choose another name');
  try {
    const inline = { mcpServers: { [name]: settings } };
    const loaded = await loadConfig({ inline, cwd: process.cwd(), environment: readEnvironment() });
    const { upstreams, disabledServers } = loaded;
    const mistakes = disabledServers.flatMap((each) => each.mistakes);
    if (mistakes.length > 0)
      throw new HostError('bad_config', mistakes.map((mistake) => visibleLine(mistake)).join('; '));
    const [definition] = upstreams;
    if (definition !== undefined) return definition;
  } catch (error) {
    if (isHostError(error, 'bad_config')) throw new HostError('bad_input', error.message.replaceAll('\n', '; '));
    throw error;
  }
  throw new HostError('bad_input', `server ${JSON.stringify(name)} is disabled: remove its key enabled or disabled`);
}

function authOf({ target, oauth }: UpstreamDefinition): NonNullable<ServerFacts['auth']>['type'] | undefined {
  return oauth === undefined ? kindOf(target).authOf(target) : 'oauth2';
}

/** Keeps the names of inherited environment variables, not their values: the values change with every login. */
function withoutInherited(target: UpstreamTarget | undefined): unknown {
  if (target?.kind !== 'stdio' || target.inherited === undefined) return target;
  return { ...target, inherited: Object.keys(target.inherited).sort() };
}
