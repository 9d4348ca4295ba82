import type { JsonObject } from './json.js';

/** What a tool's own server claims about it. Claims, not facts: a policy may believe them or not. */
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
  /** Absent, `{}` and a schema that is no object all mean "no declared input". */
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  /** Pictures of it, as its server names them: addresses that nobody here ever asks for. */
  readonly icons?: readonly JsonObject[];
  readonly deprecated?: boolean;
  /** Words by which its source groups tools. */
  readonly tags?: readonly string[];
}

/** Whether a call may be made a second time where nobody knows what became of the first: its server says that it may. */
export function isRepeatable({ annotations }: Pick<Tool, 'annotations'>): boolean {
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
}
