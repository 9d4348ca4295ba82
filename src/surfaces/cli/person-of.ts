import { HostError } from '../../domain/errors.js';
import type { ComposedRecords } from './composed.js';
import { hasPersonAtTerminal } from './terminal/terminal-line.js';
import { userName } from './user-name.js';

/** Throws if there is no proof that a person decides. */
export async function personOf({ approverSecret }: ComposedRecords): Promise<string> {
  const isGiven = await approverSecret.isGiven();
  if (isGiven === true) return `${userName()} (secret)`;
  if (isGiven === false)
    throw new HostError(
      'bad_input',
      "CODEMODE_APPROVER_SECRET is not the approver's secret; make one with: codemode approvals secret",
    );
  if (hasPersonAtTerminal()) return `${userName()} (terminal)`;
  throw new HostError(
    'bad_input',
    "a decision needs a terminal, or the approver's secret in CODEMODE_APPROVER_SECRET (codemode approvals secret makes one)",
  );
}
