import type { JsonObject } from './json.js';

/** What a tool's own server claims about it. These are claims, not facts: a policy decides whether to trust them. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** One tool of one upstream, under the names its server gave it. Outward identifiers are derived in `catalog/names`. */
export interface Tool {
  readonly serverId: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** Absent, `{}` and a schema that is not an object all mean "no declared input". */
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  /** Its icons, as the server lists them: URLs that the host never fetches. */
  readonly icons?: readonly JsonObject[];
  readonly deprecated?: boolean;
  /** Set if the source has a version for each tool. */
  readonly version?: string;
  /** Words by which the source groups its tools. */
  readonly tags?: readonly string[];
}

/** Whether a call may be repeated if the outcome of the first is unknown: its server declares the tool read-only or idempotent. */
export function isRepeatable({ annotations }: Pick<Tool, 'annotations'>): boolean {
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
}
