import type { OwnFile, WrittenOver } from '../../../config/files/own-file.js';
import type { ImportPlan, PlannedServer } from '../../../config/import/plan-import.js';
import { describeServer, shownServer } from '../../../config/trust/shown-server.js';
import type { Environment } from '../../../config/variables/environment.js';
import { unpassedVariables } from '../../../config/variables/unpassed-variables.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { plainLine, styled } from '../terminal/terminal.js';
import { consentLine, consentText, consentWord } from '../trust/consent-text.js';
import {
  noteOnVariables,
  notesOnFile,
  notesOnReferences,
  notesOnRights,
  ownShellCommandFor,
  trustSteps,
} from '../trust/file-notes.js';

/** What `init` would do, shown before it asks. It contains every command that would be started later, and its source. */
export function describePlan(plan: ImportPlan, { file }: OwnFile, isMerge: boolean, environment: Environment): string {
  const lines = plan.servers.length === 0 ? [nothingNew(plan, isMerge)] : [];
  lines.push(...describeServers(plan, plan.servers).lines);
  if (plan.leftOut.length > 0) lines.push(styled('bold', 'Left out'));
  const there = new Set(plan.leftOut.filter(({ isThere }) => isThere).map(({ name }) => consentWord(name)));
  if (there.size > 0) lines.push(`  already there: ${[...there].join(', ')}`);
  const leftOut = plan.leftOut
    .filter(({ isThere }) => !isThere)
    .map(({ name, from, reason }) => `  ${consentWord(name)} of ${consentWord(from.file)}: ${consentLine(reason)}`);
  lines.push(...firstOf(leftOut));
  const warnings = [...plan.warnings, ...unpassedNotes(plan, environment)];
  if (warnings.length > 0) lines.push(styled('bold', 'Worth knowing'));
  lines.push(...firstOf(warnings.map((warning) => `  ${consentLine(warning)}`)));
  if (isMerge && plan.servers.length === 0) return `${lines.join('\n')}\n\n`;
  return `${lines.join('\n')}\n\n${styled('dim', `${isMerge ? 'To be added to' : 'To be written'}: ${plainLine(file)}`)}\n`;
}

/** The servers from this folder's files, shown before the question about them. Servers that are cut off cannot be agreed to. */
export function describeStrangers(plan: ImportPlan): { readonly text: string; readonly isCut: boolean } {
  const strangers = plan.servers.filter(({ from }) => from.owner === 'project');
  const { lines, isCut } = describeServers(plan, strangers);
  return { text: `\n${lines.join('\n')}\n\n`, isCut };
}

/** Everything except our own words is foreign text: its rows start with a mark. */
function describeServers(plan: ImportPlan, servers: readonly PlannedServer[]) {
  const lines: string[] = [];
  let [from, isCut] = ['', false];
  for (const planned of servers) {
    const heading = headingOf(planned);
    if (heading !== from) lines.push(styled('bold', heading));
    from = heading;
    lines.push(`  ${consentWord(planned.name)}${renamedNote(planned)}`);
    for (const line of describeServer(planned.server, planned.from.owner)) {
      const block = consentText(line, { indent: '      ' });
      lines.push(...block.rows);
      isCut ||= block.isCut;
    }
    for (const { name, place } of plan.uses.filter(({ server }) => server === planned.name))
      lines.push(`      gets your ${consentWord(name)} in ${consentPlace(place)}`);
  }
  return { lines, isCut };
}

/** `header X-Key`: the second word is foreign. */
function consentPlace(place: string): string {
  const at = place.indexOf(' ');
  return at < 0 ? consentWord(place) : `${place.slice(0, at)} ${consentWord(place.slice(at + 1))}`;
}

/** A long list would push the servers off the screen. */
function firstOf(lines: readonly string[]): string[] {
  const left = lines.length - MAX_LINES;
  return left <= 0 ? [...lines] : [...lines.slice(0, MAX_LINES), `  … and ${left} more`];
}

const MAX_LINES = 40;

/** The next steps after the file was written. */
export function nextSteps(plan: ImportPlan, own: OwnFile, result: WrittenOver, inUse: string | undefined): string {
  const isSet = new Set(plan.variables.filter((variable) => variable.isSet).map(({ name }) => name));
  const references = plan.servers.flatMap(({ references: made, from }) =>
    made.map(({ variable }) => ({ variable, origin: from.file, isSet: isSet.has(variable) })),
  );
  const explained = new Set(references.map(({ variable }) => variable));
  const unset = plan.variables.filter(({ name }) => !isSet.has(name) && !explained.has(name));
  const command = ownShellCommandFor(own);
  return [
    `${styled('green', 'written')}: ${plainLine(own.file)}`,
    ...(result.copy === undefined ? [] : [`What was there before is in ${plainLine(result.copy)}`]),
    ...notesOnRights(result),
    ...(unset.length === 0
      ? []
      : ['Set these first; servers refer to them:', ...unset.map(({ name }) => `  export ${name}=...`)]),
    ...notesOnReferences(references),
    ...notesOnFile(own),
    ...(inUse === undefined ? [] : [`In this folder ${plainLine(inUse)} is used instead of it.`]),
    ...trustSteps(own),
    `See whether the servers answer:  ${command} servers`,
    `Add codemode to your client:     ${command} install`,
  ].join('\n');
}

/** The plan for `--json`. It names variables and headers, but shows values only if they come from the project's files. */
export function planAsJson(
  plan: ImportPlan,
  environment: Environment,
  written: string | null,
  result: WrittenOver = {},
) {
  const { servers, leftOut, warnings, uses } = plan;
  return {
    servers: servers.map(({ name, renamedFrom, from, server }) => ({
      name,
      ...omitUndefined({ renamedFrom }),
      client: from.client,
      file: from.file,
      ...shownServer(server, from.owner),
    })),
    leftOut: leftOut.map(({ name, from, reason }) => ({ name, client: from.client, file: from.file, reason })),
    warnings,
    variables: uses,
    notPassedOn: unpassed(plan, environment),
    written,
    ...omitUndefined({ backup: result.copy }),
    ...(result.modeBefore === undefined ? {} : { tightened: true }),
  };
}

function nothingNew(plan: ImportPlan, isMerge: boolean): string {
  if (isMerge) return 'There is no server to add.';
  return plan.leftOut.length === 0
    ? 'No servers were found; the new file has an example to fill in.'
    : 'No server can be imported; the new file has an example to fill in.';
}

function headingOf({ from }: PlannedServer): string {
  const whose = from.owner === 'project' ? ' (a file of this project, not one of yours)' : '';
  return `From ${from.client}, ${consentWord(from.file)}${whose}`;
}

function renamedNote({ renamedFrom }: PlannedServer): string {
  return renamedFrom === undefined
    ? ''
    : `  (called ${consentWord(renamedFrom)} there; that name is taken or cannot be used)`;
}

function unpassed(plan: ImportPlan, environment: Environment): { server: string; names: string[] }[] {
  return plan.servers
    .map(({ name, server }) => ({ server: name, names: unpassedVariables(name, server, environment) }))
    .filter(({ names }) => names.length > 0);
}

function unpassedNotes(plan: ImportPlan, environment: Environment): string[] {
  return unpassed(plan, environment).map(({ server, names }) => noteOnVariables(server, names));
}
