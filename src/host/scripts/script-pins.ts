import { toolDigestOf } from '../../broker/approvals/identity.js';
import { type CatalogSnapshot, isUnavailable, toolNamed } from '../../catalog/snapshot.js';
import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { GuestError } from '../../domain/run.js';
import type { ScriptHead, ScriptPin } from '../../domain/script.js';
import { findServer } from '../tools/discovery.js';

/** A tool that a script was seen to call and that has changed since. */
export interface PinChange {
  /** `server/tool`. */
  readonly tool: string;
  readonly change: 'changed' | 'gone';
  /** Digest of the tool now; absent if it is gone. */
  readonly digest?: string;
}

/** Tools of a server that is down are not compared: their calls fail, and no other server answers them. */
export function changedPins({ pins = [] }: Pick<ScriptHead, 'pins'>, snapshot: CatalogSnapshot): PinChange[] {
  return pins.flatMap((pin): PinChange[] => {
    const now = digestNow(pin, snapshot);
    if (now === 'unknown' || now === pin.digest) return [];
    const tool = `${pin.server}/${pin.tool}`;
    return [now === undefined ? { tool, change: 'gone' } : { tool, change: 'changed', digest: now }];
  });
}

/** The pins with the current digests of their tools. Pins of removed tools stay. */
export function renewedPins({ pins = [] }: Pick<ScriptHead, 'pins'>, snapshot: CatalogSnapshot): ScriptPin[] {
  return pins.map((pin) => {
    const now = digestNow(pin, snapshot);
    return now === undefined || now === 'unknown' ? pin : { ...pin, digest: now };
  });
}

/** What a person decides about: the script, its version, and the changes. If a tool changes again, the person is asked again. */
export function changedQuestion({ name, version }: ScriptHead, changes: readonly PinChange[]): JsonObject {
  const described = changes.map(({ tool, change, digest }) =>
    digest === undefined ? `${tool}: ${change}` : `${tool}: ${change}, its definition is now sha256 ${digest}`,
  );
  return { name, version, changes: described };
}

/** The error for a script that was not run, with the command to type. */
export function changedScript({ name }: ScriptHead, changes: readonly PinChange[], { message }: GuestError): HostError {
  const what = changes.map(({ tool, change }) => `${tool} (${change})`).join(', ');
  return new HostError(
    'conflict',
    `script ${name} was not run: tools that it calls have changed since it was stored: ${what}. ${message} To take them as they are now: codemode scripts accept ${name}`,
  );
}

function digestNow({ server, tool }: ScriptPin, snapshot: CatalogSnapshot): string | 'unknown' | undefined {
  const found = findServer(server, snapshot);
  if (found !== undefined && isUnavailable(found)) return 'unknown';
  const known = found && toolNamed(tool, found);
  return known && toolDigestOf(known.tool);
}
