import type { ApprovalState } from '../../domain/approval.js';
import type { CallVerdict } from '../../domain/audit.js';
import type { JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { FailedCall } from './tool-trace.js';

/** What the host remembers of a failed call, to explain a program that ends with the call's error. */
export interface CallFailure {
  readonly serverId: string;
  readonly violation?: string;
  /** The request that would have to be granted. Absent: a list of the violation alone. */
  readonly capabilities?: JsonValue;
  readonly verdict?: CallVerdict;
  /** The token of the run's request had expired. */
  readonly isExpired?: true;
  /** The person's decision. */
  readonly approvalState?: ApprovalState;
  /** The same call may succeed later, and repeating it is safe. */
  readonly isSafeToRepeat?: true;
  /** How long the server asks to wait. */
  readonly retryAfterMs?: number;
}

/** File grants are checked when a file is opened, so a missing grant is known only from the message. */
export function failureOf({ serverId }: Tool, { error, verdict, approval }: FailedCall): CallFailure {
  const { message, fields } = error;
  const said = isOwnServer(serverId) ? /was not granted ((?:filesystem|network):.+)$/.exec(message)?.[1] : undefined;
  const violation = typeof fields?.violation === 'string' ? fields.violation : said;
  return {
    serverId,
    ...omitUndefined({ violation, verdict, capabilities: fields?.capabilities }),
    ...(fields?.authorizationExpired === true ? { isExpired: true } : {}),
    ...omitUndefined({ approvalState: approval?.state }),
    ...(fields?.isSafeToRepeat === true ? { isSafeToRepeat: true } : {}),
    ...(typeof fields?.retryAfterMs === 'number' ? { retryAfterMs: fields.retryAfterMs } : {}),
  };
}

/** A built-in server that capabilities grant: network and files. */
export function isOwnServer(serverId: string): boolean {
  return serverId.startsWith('codemode/');
}
