import { readTraceContext, type TraceContext } from '../../domain/trace.js';

/** The environment variables at the start of the process. All other code receives them as a value. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The one place where the process's environment is read. */
export function readEnvironment(): Environment {
  return { ...process.env };
}

/** The trace that the parent process passes on, in the environment variables that OpenTelemetry defines. */
export function traceOfCaller({ TRACEPARENT, TRACESTATE }: Environment): TraceContext | undefined {
  return readTraceContext({ traceparent: TRACEPARENT, tracestate: TRACESTATE });
}

/** The variables that a server process gets besides its own `env`: enough to find programs, a home, a language and a proxy. */
const INHERITED = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TERM',
  'TMPDIR',
  'LANG',
  'LC_ALL',
  'TZ',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
] as const;

/**
 * The variables that every server process inherits. A short list, because the rest of our environment may hold secrets of other
 * programs, and no server needs them.
 */
export function inheritedEnvironment(environment: Environment): Record<string, string> {
  return pickVariables(environment, INHERITED);
}

/** Whether every server process is given this variable anyway. */
export function isAlwaysInherited(name: string): boolean {
  return (INHERITED as readonly string[]).includes(name);
}

/** The variables from this list that are set. */
export function pickVariables(environment: Environment, names: readonly string[]): Record<string, string> {
  const inherited: Record<string, string> = {};
  for (const name of names) {
    const value = environment[name];
    // `() {`: a function exported by an old shell, which would run it again.
    if (value !== undefined && !value.startsWith('()')) inherited[name] = value;
  }
  return inherited;
}
