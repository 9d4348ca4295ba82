import { isAbsolute, normalize } from 'node:path';
import * as z from 'zod';
import {
  CAPABILITY_DEFAULTS,
  type CapabilitySet,
  type Destination,
  type FilesystemCapability,
  type McpCapability,
  type NetworkCapability,
} from '../../domain/capability.js';
import { HostError } from '../../domain/errors.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';

const MAX_ENTRIES = 1_000;

/**
 * Reads the capabilities of a request or a token: the object of the contract, or a list of `kind:target`. `isServer`
 * distinguishes `network:helpscout`, the contract's own example, which means the server of that name, from a host. Throws
 * `bad_input`.
 */
export function readCapabilities(value: unknown, isServer: (name: string) => boolean): CapabilitySet {
  if (value === undefined || value === null) return {};
  return Array.isArray(value) ? fromStrings(value, isServer) : fromObject(value);
}

function fromStrings(entries: readonly unknown[], isServer: (name: string) => boolean): CapabilitySet {
  if (entries.length > MAX_ENTRIES) throw bad(`there are more than ${MAX_ENTRIES} of them`);
  const destinations: Destination[] = [];
  const paths: string[] = [];
  const servers = new Set<string>();
  const tools = new Set<string>();
  const system = new Set<string>();
  for (const entry of entries) {
    const [, kind = '', target = ''] = /^([a-z]+):(.+)$/s.exec(String(entry)) ?? [];
    if (kind === 'mcp' || (kind === 'network' && isServer(target))) {
      const slash = target.indexOf('/');
      servers.add(slash < 0 ? target : target.slice(0, slash));
      tools.add(slash < 0 ? `${target}/*` : target);
    } else if (kind === 'network') destinations.push(destinationOf(target));
    else if (kind === 'filesystem') paths.push(absolute(target));
    else if (kind === 'system') system.add(target);
    else
      throw bad(
        `${JSON.stringify(entry)} is not a capability; write kind:target, such as mcp:files or network:api.example.com:443`,
      );
  }
  const { network, filesystem, mcp } = CAPABILITY_DEFAULTS;
  return {
    ...(destinations.length === 0
      ? {}
      : {
          network: {
            destinations,
            maxRequestsPerSecond: network.maxRequestsPerSecond,
            maxRequestBytes: network.maxRequestBytes,
          },
        }),
    ...(paths.length === 0 ? {} : { filesystem: { paths, ...filesystem } }),
    ...(servers.size === 0
      ? {}
      : {
          mcp: {
            servers: [...servers],
            // If each server is granted whole, no tool list is needed.
            ...([...tools].every((tool) => tool.endsWith('/*')) ? {} : { tools: [...tools] }),
            maxCallsPerSecond: mcp.maxCallsPerSecond,
          },
        }),
    ...(system.size === 0 ? {} : { system: [...system] }),
  };
}

/** `host`, `host:port` or `[address]:port`. */
function destinationOf(target: string): Destination {
  const [, host, port] = /^(\[[\da-fA-F:.]+\]|[^:\s/]+)(?::(\d{1,5}))?$/.exec(target) ?? [];
  const number = port === undefined ? undefined : Number(port);
  if (host === undefined || number === 0 || (number ?? 1) > 65_535)
    throw bad(`network:${target} names no host; write network:api.example.com:443`);
  return { host: hostOf(host), ports: number === undefined ? CAPABILITY_DEFAULTS.network.ports : [number] };
}

function hostOf(text: string): string {
  const name = text.toLowerCase().replace(/\.$/, '');
  if (/^\*\.[^*]+\.[^*]+$|^[^*]+$/.test(name)) return name;
  throw bad(`the host ${JSON.stringify(text)} is too broad; write a name, or *.name.tld for its subdomains`);
}

function absolute(path: string): string {
  if (!isAbsolute(path) || path.includes('\0')) throw bad(`the path ${JSON.stringify(path)} is not absolute`);
  const whole = normalize(path);
  return whole === '/' ? whole : whole.replace(/\/$/, '');
}

const names = z.array(z.string().min(1)).max(MAX_ENTRIES).default([]);
const rate = (least: number) => z.number().min(1).default(least);
const bytes = (least: number) => z.number().int().nonnegative().default(least);
const objectForm = z.strictObject({
  network: z
    .strictObject({
      allowedHosts: names,
      allowedPorts: z
        .array(z.number().int().min(1).max(65_535))
        .max(MAX_ENTRIES)
        .default([...CAPABILITY_DEFAULTS.network.ports]),
      maxRequestsPerSecond: rate(CAPABILITY_DEFAULTS.network.maxRequestsPerSecond),
      maxRequestSize: bytes(CAPABILITY_DEFAULTS.network.maxRequestBytes),
    })
    .optional(),
  filesystem: z
    .strictObject({
      allowedPaths: names,
      readOnly: z.boolean().default(true),
      maxFileSize: bytes(CAPABILITY_DEFAULTS.filesystem.maxFileBytes),
      allowedExtensions: z.array(z.string()).max(MAX_ENTRIES).optional(),
    })
    .optional(),
  mcp: z
    .strictObject({
      allowedServers: names,
      allowedTools: z.array(z.string().min(1)).max(MAX_ENTRIES).optional(),
      maxCallsPerSecond: rate(CAPABILITY_DEFAULTS.mcp.maxCallsPerSecond),
    })
    .optional(),
  system: z.record(z.string().min(1), z.unknown()).optional(),
});

function fromObject(value: unknown): CapabilitySet {
  const parsed = objectForm.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.map(String).join('.') ?? '';
    throw bad(`${place === '' ? '' : `${place}: `}${issue?.message ?? 'is not valid'}`);
  }
  const { network, filesystem, mcp, system } = parsed.data;
  const named = systemOf(system);
  return {
    ...omitUndefined({
      network: ifDefined(network, networkOf),
      filesystem: ifDefined(filesystem, filesystemOf),
      mcp: ifDefined(mcp, mcpOf),
    }),
    ...(named.length === 0 ? {} : { system: named }),
  };
}

type ObjectForm = z.output<typeof objectForm>;

function networkOf(form: NonNullable<ObjectForm['network']>): NetworkCapability {
  return {
    destinations: form.allowedHosts.map((host) => ({ host: hostOf(host), ports: form.allowedPorts })),
    maxRequestsPerSecond: form.maxRequestsPerSecond,
    maxRequestBytes: form.maxRequestSize,
  };
}

function filesystemOf(form: NonNullable<ObjectForm['filesystem']>): FilesystemCapability {
  return {
    paths: form.allowedPaths.map(absolute),
    isReadOnly: form.readOnly,
    maxFileBytes: form.maxFileSize,
    ...omitUndefined({ extensions: form.allowedExtensions?.map(withDot) }),
  };
}

/** `json` and `.json` are the same. An empty extension means files without one. */
function withDot(extension: string): string {
  return extension === '' || extension.startsWith('.') ? extension : `.${extension}`;
}

function mcpOf(form: NonNullable<ObjectForm['mcp']>): McpCapability {
  return {
    servers: form.allowedServers,
    maxCallsPerSecond: form.maxCallsPerSecond,
    ...omitUndefined({ tools: form.allowedTools }),
  };
}

/** The contract does not define the content. Every entry that is not switched off counts as requested, by its name. */
function systemOf(form: Readonly<Record<string, unknown>> = {}): readonly string[] {
  return Object.entries(form).flatMap(([name, value]) =>
    value === false || value === null || value === undefined ? [] : [name],
  );
}

function bad(problem: string): HostError {
  return new HostError('bad_input', `capabilities: ${problem}`);
}
