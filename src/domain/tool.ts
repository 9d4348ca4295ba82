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
  /** Absent and `{}` mean "no declared input". */
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  /** Its output schema is too large, too deep or no object, and was left out. */
  readonly hasUnusableOutput?: true;
  readonly annotations?: ToolAnnotations;
  /** Its icons, as the server lists them: URLs that the host never fetches. */
  readonly icons?: readonly JsonObject[];
  readonly deprecated?: boolean;
  /** Set if the source has a version for each tool. */
  readonly version?: string;
  /** Words by which the source groups its tools. */
  readonly tags?: readonly string[];
}

/** In place of an input schema that cannot be used: any object is passed on, and declarations have its comment as a warning. */
export const UNUSABLE_INPUT = {
  type: 'object',
  additionalProperties: true,
  $comment: 'its input schema is too large, too deep or no object, and is left out; any object is passed on',
} as const;

/** What declarations say of a tool whose output schema cannot be used. */
export const UNUSABLE_OUTPUT = 'its output schema is too large, too deep or no object, and is left out';

/** Whether a call may be repeated if the outcome of the first is unknown: its server declares the tool read-only or idempotent. */
export function isRepeatable({ annotations }: Pick<Tool, 'annotations'>): boolean {
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
}
