import type { AddressInfo } from 'node:net';
import { readCapabilities } from './broker/capabilities/read.js';
import type { Config } from './config/schema.js';
import { HostError } from './domain/errors.js';
import { AGENT_SCOPES } from './domain/principal.js';
import type { ServerControl } from './host/server-control.js';
import { executeSettings } from './profiles/registry.js';
import { runnerSettings } from './profiles/runner/settings.js';
import { createUnifiedProfile } from './profiles/unified/profile.js';
import type { HttpService } from './surfaces/cli/composed.js';
import { Gate, type TokenRules } from './surfaces/http/gate.js';
import { mountHealth } from './surfaces/http/health.js';
import { createListener } from './surfaces/http/listener.js';
import { mountMetrics } from './surfaces/http/metrics.js';
import { byAccessToken, byListedTokens, firstOf } from './surfaces/http/principals.js';
import { mountProtectedResource, type ProtectedResource } from './surfaces/http/protected-resource.js';
import { type McpOptions, sessionOptions } from './surfaces/mcp/door.js';
import { McpHttp } from './surfaces/mcp/http.js';
import type { RunnerRest } from './surfaces/rest/door.js';
import { RestApi } from './surfaces/rest/rest-api.js';

/** How long calls that are under way may take when the program is asked to stop. */
const SHUTDOWN_GRACE_MS = 10_000;
/** For answers on their way, when nothing is under way any more. */
const GOODBYE_MS = 1_000;
/** Connections that may wait to be accepted: Node's own 511 is less than clients that come together here. */
const BACKLOG = 2_048;
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/** Puts the network surfaces together: a part of `compose.ts` that is loaded by who serves them. */
export async function openHttp(
  mcp: McpOptions,
  servers: ServerControl,
  config: Config,
  token: string,
): Promise<HttpService> {
  const { host, port, cors, allowedHosts, maxRequestSize } = config.server;
  const settings = executeSettings(config);
  const rules = {
    hosts: [host, ...allowedHosts],
    isOpenToNetwork: !LOOPBACK.includes(host),
    origins: cors.enabled ? cors.origins : [],
  };
  const gate = new Gate(rules, await tokenRulesOf(config, token));
  const resource = protectedResource(config);
  const app = createListener({ gate, maxRequestBytes: maxRequestSize, resource, log: mcp.log });
  if (resource !== undefined) mountProtectedResource(app, resource);
  let isReady = false;
  mountHealth(app, () => isReady);
  mountMetrics(app, mcp.host);
  const door = new McpHttp(mcp);
  door.mount(app);
  const rest = new RestApi({
    host: mcp.host,
    servers,
    sessionOptionsOf: (caller) => sessionOptions(createUnifiedProfile(settings), mcp.codeMode, caller),
    settings,
    ...(mcp.profile.name === 'runner' ? { runner: runnerRest(mcp, config) } : {}),
    version: mcp.version,
    pingEveryMs: config.server.pingInterval,
    log: mcp.log,
  });
  rest.mount(app, gate);
  try {
    await app.listen({ host, port, backlog: BACKLOG });
  } catch (error) {
    await app.close();
    throw new HostError('bad_config', cannotListen(host, port, (error as NodeJS.ErrnoException).code), {
      cause: error,
    });
  }
  isReady = true;
  if (!LOOPBACK.includes(host))
    mcp.log('other machines can connect, and nothing is encrypted: put a proxy with TLS in front', 'warn');
  mcp.host
    .warm((message) => mcp.log(message, 'info'))
    .catch((error: unknown) => mcp.log(`servers could not be prepared: ${String(error)}`, 'error'));
  const { port: taken } = app.server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    close: async () => {
      isReady = false;
      const surfaces = [door, rest].map((surface) => surface.close(SHUTDOWN_GRACE_MS));
      await Promise.all([...surfaces, mcp.host.drain(SHUTDOWN_GRACE_MS)]);
      // Everybody is answered: whoever is still sending a request, or does not say goodbye, is not waited for.
      const timer = setTimeout(() => app.server.closeAllConnections(), GOODBYE_MS);
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

/** How callers are told apart: nothing where everybody on this machine is let in. */
async function tokenRulesOf({ security, server, mcpServers }: Config, token: string): Promise<TokenRules | undefined> {
  const { provider, issuer = '', audience = '', tokens } = security.auth;
  const read = (value: unknown) => readCapabilities(value, (name) => name in mcpServers);
  const listed = byListedTokens(
    tokens.map(({ capabilities, ...each }) => ({
      ...each,
      ...(capabilities === undefined ? {} : { capabilities: read(capabilities) }),
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
      const { byIssuer } = await import('./surfaces/http/token-issuer.js');
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

function cannotListen(host: string, port: number, code: string | undefined): string {
  if (code === 'EADDRINUSE') return `port ${port} of ${host} is taken; choose another one with --port`;
  if (code === 'EACCES') return `port ${port} of ${host} is not yours to take; choose one above 1023 with --port`;
  return `cannot listen on ${host} port ${port} (${code ?? 'unknown reason'}); choose others with --host and --port`;
}
