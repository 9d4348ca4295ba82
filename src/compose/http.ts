import { violationOf } from '../broker/capabilities/bounds.js';
import { readCapabilities } from '../broker/capabilities/read.js';
import type { Config } from '../config/schema/schema.js';
import { HostError } from '../domain/errors.js';
import { AGENT_SCOPES } from '../domain/principal.js';
import { needsOf } from '../domain/profile-name.js';
import { configuredReach } from '../host/runs/capability-grants.js';
import type { ServerControl } from '../host/servers/server-control.js';
import { ifDefined, omitUndefined } from '../lib/omit-undefined.js';
import { authenticate } from '../lib/secrets/sealed.js';
import { executeSettings } from '../profiles/registry.js';
import { runnerSettings } from '../profiles/runner/settings.js';
import { createUnifiedProfile } from '../profiles/unified/profile.js';
import type { Store } from '../store/store.js';
import type { HttpService } from '../surfaces/cli/composed.js';
import { Gate, type TokenRules } from '../surfaces/http/gate.js';
import { mountHealth } from '../surfaces/http/health.js';
import { createListener } from '../surfaces/http/listener.js';
import { mountMetrics } from '../surfaces/http/metrics.js';
import { byAccessToken, byListedTokens, firstOf } from '../surfaces/http/principals.js';
import { mountProtectedResource, type ProtectedResource } from '../surfaces/http/protected-resource.js';
import { McpHttp } from '../surfaces/mcp/http.js';
import { type McpOptions, sessionOptions } from '../surfaces/mcp/mcp-session.js';
import { RestApi } from '../surfaces/rest/rest-api.js';
import type { RunnerRest } from '../surfaces/rest/rest-context.js';
import { announce, CLOSE_TIMEOUT_MS, listen, type OpenConsole, SHUTDOWN_GRACE_MS } from './console-http.js';

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

export interface HttpParts {
  /** The token that grants everything except approvals. */
  readonly token: string;
  /** The store's key: all hosts that share the store have the same one. */
  readonly key: Uint8Array;
  readonly store: Pick<Store, 'isUp' | 'figures'>;
  readonly openConsole: OpenConsole;
}

/** Assembles the network surfaces: the part of `compose/compose.ts` that is loaded only to serve them. */
export async function openHttp(
  mcp: McpOptions,
  servers: ServerControl,
  config: Config,
  { token, key, store, openConsole }: HttpParts,
): Promise<HttpService> {
  const { host, port, cors, allowedHosts, maxRequestSize } = config.server;
  const settings = executeSettings(config);
  const rules = {
    hosts: [host, ...allowedHosts],
    isOpenToNetwork: !LOOPBACK.includes(host),
    origins: cors.enabled ? cors.origins : [],
  };
  for (const line of ungrantedTokens(config)) mcp.log(line, 'warn');
  const gate = new Gate(rules, await tokenRulesOf(config, token));
  const resource = protectedResource(config);
  const app = createListener({ gate, maxRequestBytes: maxRequestSize, resource, log: mcp.log });
  if (resource !== undefined) mountProtectedResource(app, resource);
  let isServing = false;
  mountHealth(app, async () => {
    if (!isServing) return 'it is starting or stopping';
    return (await store.isUp()) ? undefined : 'the database does not answer';
  });
  mountMetrics(app, mcp.host, store.figures);
  const surface = new McpHttp(mcp, authenticate(key, { purpose: 'rounds of a call', owner: [] }));
  surface.mount(app);
  const rest = new RestApi({
    host: mcp.host,
    servers,
    sessionOptionsOf: (caller) => sessionOptions(createUnifiedProfile(settings), mcp.codeMode, caller),
    settings,
    ...(needsOf(mcp.profile.name).restRoutes === 'runner' ? { runner: runnerRest(mcp, config) } : {}),
    version: mcp.version,
    pingEveryMs: config.server.pingInterval,
    log: mcp.log,
  });
  rest.mount(app, gate);
  let url = '';
  const { surface: page, access } = await openConsole({ log: mcp.log, urlOf: () => `${url}/mcp` });
  page.mount(app);
  url = await listen(app, { host, port });
  const announced = await announce(access, url, host, app);
  isServing = true;
  if (!LOOPBACK.includes(host))
    mcp.log('other machines can connect, and nothing is encrypted: put a proxy with TLS in front', 'warn');
  mcp.host.warm(mcp.log).catch((error: unknown) => mcp.log(`servers could not be prepared: ${String(error)}`, 'error'));
  return {
    url,
    consoleLink: announced.link,
    close: async () => {
      isServing = false;
      await announced.withdraw(mcp.log);
      page.close();
      const surfaces = [surface, rest].map((surface) => surface.close(SHUTDOWN_GRACE_MS));
      await Promise.all([...surfaces, mcp.host.drain(SHUTDOWN_GRACE_MS)]);
      // All responses are sent: do not wait for clients that are still sending a request or keep the connection open.
      const timer = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      await app.close();
      clearTimeout(timer);
    },
  };
}

function runnerRest({ profile, codeMode }: McpOptions, config: Config): RunnerRest {
  return {
    settings: runnerSettings(config),
    sessionOptionsOf: (caller) => sessionOptions(profile, codeMode, caller),
  };
}

function protectedResource({ security: { auth } }: Config): ProtectedResource | undefined {
  const { provider, issuer = '', audience = '' } = auth;
  return provider === 'oauth2' ? { issuer, audience } : undefined;
}

/** The rules that tell callers apart, or undefined if everybody on this machine is let in. */
async function tokenRulesOf({ security, server, mcpServers }: Config, token: string): Promise<TokenRules | undefined> {
  const { provider, issuer = '', audience = '', tokens } = security.auth;
  const read = (value: unknown) => readCapabilities(value, (name) => name in mcpServers);
  const listed = byListedTokens(
    tokens.map(({ capabilities, ...each }) => ({
      ...each,
      ...omitUndefined({ capabilities: ifDefined(capabilities, read) }),
    })),
  );
  switch (provider) {
    case 'token':
      return {
        identify: firstOf([byAccessToken(token), listed]),
        adviceFor: (scope) =>
          AGENT_SCOPES.has(scope)
            ? '`codemode token` prints it'
            : `use one that security.auth.tokens lists with the scope ${scope}`,
      };
    case 'oauth2': {
      const { byIssuer } = await import('../surfaces/http/token-issuer.js');
      return {
        identify: firstOf([listed, byIssuer({ issuer, audience, readCapabilities: read })]),
        adviceFor: (scope) => `get one from ${issuer} with the scope ${scope} and the audience ${audience}`,
      };
    }
    case 'none':
      if (LOOPBACK.includes(server.host)) return undefined;
      throw new HostError(
        'bad_config',
        `security.auth.provider: none lets everybody in, so it is for loopback only, and server.host is ${server.host}; use token or oauth2`,
      );
  }
}

/** Warnings about tokens that list more than the configuration grants. Their runs do not get the excess. */
function ungrantedTokens({ security: { auth, capabilities }, mcpServers }: Config): string[] {
  const reach = configuredReach(capabilities);
  return auth.tokens.flatMap(({ name, capabilities: given }) => {
    const token = given && readCapabilities(given, (server) => server in mcpServers);
    const ungranted = token && violationOf(token, reach);
    if (ungranted === undefined) return [];
    const text = `security.auth.tokens, ${JSON.stringify(name)}: security.capabilities does not grant ${ungranted}`;
    return [`${text}; its runs go without it`];
  });
}
