import { hash } from 'node:crypto';
import type { ToolIdentity } from '../../domain/approval.js';
import type { JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import { canonicalJson } from '../../lib/text/canonical-json.js';
import { storableText } from '../../lib/text/storable-text.js';

/** Tool objects stay the same until their server lists its tools again. */
const digests = new WeakMap<Tool, string>();

export function identityOf(tool: Tool, serverFingerprint: string): ToolIdentity {
  // The name as the store returns it. The digest distinguishes it from every other tool.
  const toolName = storableText(tool.name);
  return { serverId: tool.serverId, serverFingerprint, toolName, toolDigest: toolDigestOf(tool) };
}

/** Digest of the tool's whole definition. */
export function toolDigestOf(tool: Tool): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  let known = digests.get(tool);
  if (known === undefined) {
    known = digest([name, title, description, inputSchema, outputSchema, annotations]);
    digests.set(tool, known);
  }
  return known;
}

export function argumentsDigest(input: JsonValue): string {
  return digest(input);
}

function digest(value: unknown): string {
  return hash('sha256', canonicalJson(value ?? null), 'hex');
}
