import * as z from 'zod';
import { HostError } from '../../domain/errors.js';
import type { Scope } from '../../domain/principal.js';

/** The caller and its permissions, as established by the embedding program that authenticated it. */
export interface AuthContext {
  readonly userId: string;
  readonly sessionId: string;
  readonly scopes: readonly string[];
  readonly capabilities: CapabilityRequest;
  readonly expiresAt: Date;
}

/** What code may reach. Only what is named is granted; a list has entries of the form `kind:target`, such as `mcp:files`. */
export type CapabilityRequest = CapabilitySet | readonly string[];

export interface CapabilitySet {
  readonly network?: NetworkCapabilities | undefined;
  readonly filesystem?: FilesystemCapabilities | undefined;
  readonly mcp?: MCPCapabilities | undefined;
  readonly system?: SystemCapabilities | undefined;
}

export interface NetworkCapabilities {
  readonly allowedHosts?: readonly string[] | undefined;
  readonly allowedPorts?: readonly number[] | undefined;
  readonly maxRequestsPerSecond?: number | undefined;
  /** Bytes. */
  readonly maxRequestSize?: number | undefined;
}

export interface FilesystemCapabilities {
  readonly allowedPaths?: readonly string[] | undefined;
  readonly readOnly?: boolean | undefined;
  /** Bytes. */
  readonly maxFileSize?: number | undefined;
  readonly allowedExtensions?: readonly string[] | undefined;
}

export interface MCPCapabilities {
  readonly allowedServers?: readonly string[] | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  readonly maxCallsPerSecond?: number | undefined;
}

/** The contract defines no members, and this host grants none: code that asks for one is refused. */
export interface SystemCapabilities {
  readonly [name: string]: unknown;
}

/** What code is about to do, as far as is known before it runs. */
export interface ExecutionRequest {
  readonly needsNetwork?: boolean | undefined;
  readonly mcpCalls?: readonly MCPCall[] | undefined;
  /** Further capabilities that it asks for. */
  readonly capabilities?: CapabilityRequest | undefined;
}

export interface MCPCall {
  readonly serverName: string;
  readonly toolName?: string | undefined;
}

const contextSchema = z.looseObject({
  userId: z.string(),
  sessionId: z.string(),
  scopes: z.array(z.string()),
  // Its members are parsed by the code that knows the servers.
  capabilities: z.unknown().optional(),
  expiresAt: z.instanceof(Date, { error: 'must be a Date' }),
});

/** Throws `bad_input` if the value is not an `AuthContext`. */
export function readContext(value: unknown): AuthContext {
  return readWith(contextSchema, value, 'the AuthContext') as AuthContext;
}

/** Throws if the context has expired or lacks the scope, before anything is done for it. */
export function checkContext({ userId, sessionId, scopes, expiresAt }: AuthContext, scope: Scope): void {
  if (userId === '' || sessionId === '')
    throw new HostError('bad_input', 'an AuthContext needs a userId and a sessionId');
  // An invalid date compares as not later than now.
  if (!(expiresAt.getTime() > Date.now()))
    throw violationOf('expiresAt', 'the AuthContext has expired; authenticate again');
  if (!scopes.includes(scope))
    throw violationOf(`scope:${scope}`, `the AuthContext lacks the scope ${scope}; ask for one that has it`);
}

/** Each capability violation of the contract names what was violated in `details`. */
function violationOf(violation: string, message: string): HostError {
  return Object.assign(new HostError('capability_violation', message), { violation });
}

/** Programs of two callers never share a process. */
export function callerOfContext({ userId, sessionId }: AuthContext): string {
  return `user ${JSON.stringify([userId, sessionId])}`;
}

const requestSchema = z.looseObject({
  needsNetwork: z.boolean().optional(),
  mcpCalls: z
    .array(z.looseObject({ serverName: z.string().min(1), toolName: z.string().min(1).optional() }))
    .optional(),
  capabilities: z.unknown().optional(),
});

/** Normalizes both forms of a request. Throws `bad_input`. */
export function readRequest(value: unknown): ExecutionRequest {
  if (value === undefined || value === null)
    throw new HostError('bad_input', 'the request: is missing; pass what the code needs');
  const isRequest =
    typeof value === 'object' && ['needsNetwork', 'mcpCalls', 'capabilities'].some((key) => key in value);
  return readWith(requestSchema, isRequest ? value : { capabilities: value }, 'the request') as ExecutionRequest;
}

function readWith(schema: z.ZodType, value: unknown, what: string): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.map(String).join('.') ?? '';
  throw new HostError('bad_input', `${what}${place === '' ? '' : `: ${place}`}: ${issue?.message ?? 'is not valid'}`);
}
