import type { Environment } from '../../config/environment.js';
import type { OwnFile } from '../../config/own-file.js';
import type { ImportPlan, PlannedServer } from '../../config/plan-import.js';
import { describeServer, shownServer } from '../../config/shown-server.js';
import { unpassedVariables } from '../../config/usual-variables.js';
import { noteOnVariables, notesOnFile, notesOnReferences, ownShellCommandFor, trustSteps } from './file-notes.js';
import { plain, styled } from './terminal.js';

/** What `init` would do, before it asks. Every command that would be started later is in it, and where it is from. */
export function describePlan(plan: ImportPlan, { file }: OwnFile, isMerge: boolean, environment: Environment): string {
  const lines = plan.servers.length === 0 ? [nothingNew(plan, isMerge)] : [];
  let from = '';
  for (const planned of plan.servers) {
    const heading = headingOf(planned);
    if (heading !== from) lines.push(styled('bold', heading));
    from = heading;
    lines.push(`  ${oneLine(planned.name)}${renamedNote(planned)}`);
    for (const line of describeServer(planned.server)) lines.push(`      ${oneLine(line)}`);
  }
  if (plan.leftOut.length > 0) lines.push(styled('bold', 'Left out'));
  for (const { name, from: origin, reason } of plan.leftOut)
    lines.push(`  ${oneLine(name)} of ${oneLine(origin.file)}: ${oneLine(reason)}`);
  const warnings = [...plan.warnings, ...unpassedNotes(plan, environment)];
  if (warnings.length > 0) lines.push(styled('bold', 'Worth knowing'));
  for (const warning of warnings) lines.push(`  ${oneLine(warning)}`);
  if (isMerge && plan.servers.length === 0) return `${lines.join('\n')}\n\n`;
  return `${lines.join('\n')}\n\n${styled('dim', `${isMerge ? 'To be added to' : 'To be written'}: ${plain(file)}`)}\n`;
}

/** What to type after it was written. */
export function nextSteps(plan: ImportPlan, own: OwnFile, copy: string | undefined, inUse: string | undefined): string {
  const isSet = new Set(plan.variables.filter((variable) => variable.isSet).map(({ name }) => name));
  const references = plan.servers.flatMap(({ references: made, from }) =>
    made.map(({ variable }) => ({ variable, origin: from.file, isSet: isSet.has(variable) })),
  );
  const explained = new Set(references.map(({ variable }) => variable));
  const unset = plan.variables.filter(({ name }) => !isSet.has(name) && !explained.has(name));
  const command = ownShellCommandFor(own);
  return [
    `${styled('green', 'written')}: ${plain(own.file)}`,
    ...(copy === undefined ? [] : [`What was there before is in ${plain(copy)}`]),
    ...(unset.length === 0
      ? []
      : ['Set these first; servers refer to them:', ...unset.map(({ name }) => `  export ${name}=...`)]),
    ...notesOnReferences(references),
    ...notesOnFile(own),
    ...(inUse === undefined ? [] : [`In this folder ${plain(inUse)} is used instead of it.`]),
    ...trustSteps(own),
    `See whether the servers answer:  ${command} servers`,
    `Add codemode to your client:     ${command} install`,
  ].join('\n');
}

/** The plan for `--json`. Names of variables and headers, never their values. */
export function planAsJson(plan: ImportPlan, environment: Environment, written: string | null, copy?: string) {
  const { servers, leftOut, warnings, variables } = plan;
  return {
    servers: servers.map(({ name, renamedFrom, from, server }) => ({
      name,
      ...(renamedFrom === undefined ? {} : { renamedFrom }),
      client: from.client,
      file: from.file,
      ...shownServer(server),
    })),
    leftOut: leftOut.map(({ name, from, reason }) => ({ name, client: from.client, file: from.file, reason })),
    warnings,
    variables,
    notPassedOn: unpassed(plan, environment),
    written,
    ...(copy === undefined ? {} : { backup: copy }),
  };
}

function nothingNew(plan: ImportPlan, isMerge: boolean): string {
  if (isMerge) return 'There is no server to add.';
  return plan.leftOut.length === 0
    ? 'No servers were found; the new file has an example to fill in.'
    : 'No server can be taken over; the new file has an example to fill in.';
}

function headingOf({ from }: PlannedServer): string {
  const whose = from.owner === 'project' ? ' (a file of this project, not one of yours)' : '';
  return `From ${from.client}, ${oneLine(from.file)}${whose}`;
}

function renamedNote({ renamedFrom }: PlannedServer): string {
  return renamedFrom === undefined
    ? ''
    : `  (called ${oneLine(renamedFrom)} there; that name is taken or cannot be used)`;
}

function unpassed(plan: ImportPlan, environment: Environment): { server: string; names: string[] }[] {
  return plan.servers
    .map(({ name, server }) => ({ server: name, names: unpassedVariables(server, environment) }))
    .filter(({ names }) => names.length > 0);
}

function unpassedNotes(plan: ImportPlan, environment: Environment): string[] {
  return unpassed(plan, environment).map(({ server, names }) => noteOnVariables(server, names));
}

/** A line break in a stranger's file must not look like a line of ours. */
function oneLine(text: string): string {
  return plain(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}
