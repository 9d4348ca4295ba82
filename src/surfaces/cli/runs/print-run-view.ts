import type { EngineName } from '../../../domain/engine.js';
import type { RunView } from '../../../host/host.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import type { RunResponse } from '../../../profiles/codemode/render.js';
import { EXIT } from '../command.js';
import { duration, timeAgo } from '../terminal/durations.js';
import { plainLine, printableJson, type Style, styled } from '../terminal/terminal.js';
import { noteOwnName } from '../trust/own-name-note.js';
import { isForPeople, type OutputFlags, textOf, valueText } from './print-run.js';

export const STATE_STYLES = {
  suspended: 'yellow',
  running: 'bold',
  succeeded: 'green',
  failed: 'red',
  cancelled: 'dim',
} as const satisfies Record<RunView['state'], Style>;

/** Prints one recorded run: a few lines for a person, else JSON. */
export function printRunView(run: RunView, flags: OutputFlags, engine?: EngineName): number {
  const text = isForPeople(flags) ? textOfView(run, engine) : printableJson(jsonOfView(run, engine), true);
  process.stdout.write(`${text}\n`);
  if (isForPeople(flags) && run.state === 'suspended') noteOwnName('codemode approvals');
  return run.state === 'failed' ? EXIT.failed : EXIT.ok;
}

/** What `runs list --json` prints for each run. */
export function headOf({ runId, state, caller, profile, createdAtMs, updatedAtMs, durationMs, title }: RunView) {
  const at = { createdAt: new Date(createdAtMs).toISOString(), updatedAt: new Date(updatedAtMs).toISOString() };
  return { runId, state, caller, profile, ...at, durationMs: durationMs ?? null, program: title ?? null };
}

function jsonOfView(run: RunView, engine: EngineName | undefined) {
  const approvals = run.approvals.map(({ id, tool, state }) => ({
    id,
    tool: `${tool.serverId}/${tool.toolName}`,
    state,
  }));
  return { ...headOf(run), ...omitUndefined({ engine }), response: run.response, approvals };
}

function textOfView(run: RunView, engine: EngineName | undefined): string {
  const { runId, state, caller, profile, createdAtMs, durationMs, title, response } = run;
  const when = timeAgo(Date.now() - createdAtMs);
  const took = durationMs === undefined ? '' : `, took ${duration(durationMs)}`;
  return [
    `${styled('bold', plainLine(runId))}  ${styled(STATE_STYLES[state], state)}`,
    styled(
      'dim',
      plainLine(`${when}${took}${engine === undefined ? '' : ` in ${engine}`}, by ${caller}, profile ${profile}`),
    ),
    ...(title === undefined ? [] : [`program:  ${plainLine(title)}`]),
    ...run.approvals.map(
      ({ id, tool, state: decision }) =>
        `approval: ${plainLine(`${tool.serverId}/${tool.toolName} ${decision.toLowerCase()} (${id})`)}`,
    ),
    ...nextStep(run),
    ...(response === undefined || response === null ? [] : ['', responseText(response)]),
  ].join('\n');
}

function nextStep({ runId, state, approvals }: RunView): string[] {
  if (state !== 'suspended') return [];
  const [pending, ...others] = approvals.filter((each) => each.state === 'PENDING');
  return [
    pending === undefined
      ? `Its calls are decided. Resume it with: codemode runs resume ${plainLine(runId)}`
      : `Decide with: codemode approvals approve ${plainLine(pending.id)}${others.length > 0 ? ' --scope calls' : ''}`,
  ];
}

/** The program itself is not part of the record, so an error is shown without its line of code. */
function responseText(response: unknown): string {
  return isRunResponse(response) ? textOf(response, { source: '' }) : valueText(response);
}

function isRunResponse(value: unknown): value is RunResponse {
  if (typeof value !== 'object' || value === null) return false;
  const { logs, diagnostics, toolTrace } = value as Partial<RunResponse>;
  return [logs, diagnostics, toolTrace].every(Array.isArray) && 'result' in value;
}
