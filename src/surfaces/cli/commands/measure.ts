import { join } from 'node:path';
import { codeModeOf } from '../../../config/schema/code-mode.js';
import { isHostError } from '../../../domain/errors.js';
import { MEASURE_CALLER } from '../../../domain/own-callers.js';
import { needsOf, type ProfileName } from '../../../domain/profile-name.js';
import { type BreakEven, breakEvenOf } from '../../../host/admin/break-even.js';
import {
  measureSearch,
  measureTokens,
  type Percentiles,
  readTasks,
  type SearchReport,
  type TokenReport,
  type WorthVerdict,
} from '../../../host/admin/measure.js';
import { type BriefingChoice, briefingChoices, judge } from '../../../host/admin/measure-levels.js';
import {
  type DriftReport,
  type MeasuredPrograms,
  measureDrift,
  measureOverhead,
  modulePrograms,
  type OverheadReport,
  SpanRecord,
} from '../../../host/admin/measure-runs.js';
import {
  measureProcess,
  measureScript,
  processPrograms,
  type RuntimeReport,
} from '../../../host/admin/measure-runtimes.js';
import type { Session } from '../../../host/session.js';
import type { Inventory } from '../../../host/tools/inventory.js';
import type { ToolView } from '../../../host/tools/tool-view.js';
import { codemodePresentation } from '../../../profiles/codemode/presentation.js';
import { promptTexts } from '../../../profiles/prompt-texts.js';
import { createProfile, type Machine } from '../../../profiles/registry.js';
import { type CommandContext, type Register, withRecords } from '../command.js';
import { examplesFolder } from '../examples-folder.js';
import { loadTools, noteProblems } from '../load-tools.js';
import { profileSettings } from '../profile-settings.js';
import { readSource } from '../runs/read-source.js';
import { waitFor } from '../terminal/progress.js';
import { plain, printableJson, styled } from '../terminal/terminal.js';

interface MeasureFlags {
  readonly profile?: string;
  readonly tasks?: string;
  readonly refresh?: boolean;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('measure')
    .description('measure what code mode saves and costs with your servers, on this machine')
    .option('--profile <name>', 'the profile that is served (default: the configured one)')
    .option('--tasks <file>', 'how often search finds the right tools: a line {"query", "expected"} for each task')
    .option('--refresh', 'ask the servers again instead of the catalog on disk')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (flags: MeasureFlags) => {
      context.exitWith(await measure(flags, context));
    });
};

const HELP = `
Tokens are estimated, to about 6 % of what the o200k vocabulary gives: (a) all tool definitions up front, (b) what an agent reads here instead, also at every other level of detail that prompt.tokenBudget gives,
(c) what is added on average when it first uses a server, or asks for one tool. Search is tried on the tasks of --tasks;
"expected" is a tool or a list, as "tool" or "server/tool". Times are read from the traces of programs that call a server
which comes with codemode and changes its tools: yours are not called. What could not be measured is null in --json, with the reason in "notes".

Exit status: 0, 2 bad input or configuration, 69 no server could be asked.

Examples:
  codemode measure
  codemode measure --tasks tasks.jsonl --json
`;

interface Measurement {
  readonly verdict: WorthVerdict;
  readonly tokens: TokenReport & {
    readonly encoding: string;
    readonly levels: readonly BriefingChoice[];
    readonly breakEven: BreakEven;
  };
  readonly search: SearchReport | null;
  readonly drift: DriftReport | null;
  readonly overhead: (OverheadReport & { readonly isolation: string }) | null;
  /** The runtimes of the configured profile, if they are not the engine of `overhead`. */
  readonly runtimes: readonly RuntimeReport[];
  /** What could not be measured, and why. */
  readonly notes: readonly string[];
}

const ENCODING = 'o200k_base, estimated';
const MAX_TASKS_BYTES = 16 * 1024 * 1024;

async function measure(flags: MeasureFlags, context: CommandContext): Promise<number> {
  const tasks =
    flags.tasks === undefined
      ? undefined
      : readTasks(await readSource(flags.tasks, { name: 'task file', maxBytes: MAX_TASKS_BYTES }));
  const { inventory, loaded } = await context.inventory(profileSettings(flags.profile));
  await using _ = inventory;
  await loadTools(inventory, flags.refresh === true);
  noteProblems(inventory, []);
  const view = inventory.view();
  const machine = await context.machine(loaded.config);
  const profile = createProfile(loaded.config, machine);
  const scripts = await withRecords(context, (records) => records.scripts.list());
  const known = scripts.filter((script) => script.profile === profile.name);
  const toldOf = (shown: ToolView) => promptTexts(profile, shown, known);
  const tokens = measureTokens(view, toldOf(view));
  const forCode = inventory.view(undefined, { ...codeModeOf(loaded.config), enabled: true });
  const breakEven = breakEvenOf(forCode, toldOf(forCode));
  // If this profile shows no difference between two levels of detail, only one is listed.
  const levels = briefingChoices(view, (shown) => measureTokens(shown, toldOf(shown)).catalog).filter(
    (choice, index, all) => choice.tokens !== all[index - 1]?.tokens,
  );
  const times = await waitFor('running programs', () => measureTimes(context, profile.name, machine));
  const notes = [
    ...(tasks === undefined ? ['search was not measured: name a file with tasks, --tasks FILE'] : []),
    ...times.notes,
  ];
  const measurement: Measurement = {
    verdict: judge(tokens, levels),
    tokens: { encoding: ENCODING, ...tokens, levels, breakEven },
    search: tasks === undefined ? null : measureSearch(tasks, searchOf(inventory)),
    drift: times.drift,
    overhead: times.overhead,
    runtimes: times.runtimes,
    notes,
  };
  process.stdout.write(flags.json === true ? `${printableJson(measurement, true)}\n` : render(measurement));
  return 0;
}

function searchOf(inventory: Inventory) {
  return (query: string, limit: number) =>
    inventory
      .tools({ query, detail: 'name', limit })
      .map(({ serverId, toolName }) => ({ server: String(serverId), tool: String(toolName) }));
}

type Times = Pick<Measurement, 'drift' | 'overhead' | 'runtimes' | 'notes'>;

/** Tokens can be counted even if programs cannot run here: a note says so, and the rest is measured. */
async function measureTimes(context: CommandContext, profile: ProfileName, machine: Machine): Promise<Times> {
  try {
    const spans = new SpanRecord();
    const configFile = join(examplesFolder(), 'measure.config.yaml');
    const { host } = await context.compose({ configFile, onSpan: spans.add });
    await using _ = host;
    await host.warm();
    const session = host.openSession({
      caller: MEASURE_CALLER,
      profile: 'codemode',
      presentation: codemodePresentation,
      codeMode: { enabled: true, excludedTools: [] },
      reservedNames: [],
      maxResultBytes: Number.POSITIVE_INFINITY,
    });
    const { level } = await host.open();
    const programs = programsOf(session, profile, machine);
    const overhead = programs && { isolation: level, ...(await measureOverhead(spans, programs)) };
    const drift = await measureDrift(session);
    return { overhead: overhead ?? null, drift, ...(await measureRuntimes(session, profile, machine)) };
  } catch (error) {
    if (!isHostError(error) || error.code === 'cancelled') throw error;
    return { overhead: null, drift: null, runtimes: [], notes: [`times were not measured: ${error.message}`] };
  }
}

/** A run and a call are timed in the runtime that the profile uses. Go is timed by whole runs only. */
function programsOf(session: Session, profile: ProfileName, { runtimes }: Machine): MeasuredPrograms | undefined {
  const { runtime } = needsOf(profile);
  if (runtime === 'go') return undefined;
  if (runtime === 'quickjs') return modulePrograms(session);
  const first = runtimes.find(({ isAvailable }) => isAvailable);
  return first === undefined ? undefined : processPrograms(session, first.language);
}

/** Times the runtimes of the configured profile. Go with an empty build cache would take half a minute, so it is not timed. */
async function measureRuntimes(
  session: Session,
  profile: ProfileName,
  { runtimes: interpreters, go }: Machine,
): Promise<Pick<Measurement, 'runtimes' | 'notes'>> {
  const { runtime, program } = needsOf(profile);
  if (program === 'script') return { runtimes: [await measureScript(session)], notes: [] };
  if (runtime === 'go') {
    if (go?.isAvailable !== true) return { runtimes: [], notes: ['Go was not timed: it is not installed here'] };
    if ((go.packages?.().total ?? 0) === 0)
      return { runtimes: [], notes: ['Go was not timed: its standard library is compiled by the first program'] };
    return { runtimes: [await measureProcess(session, 'go')], notes: [] };
  }
  const runtimes: RuntimeReport[] = [];
  if (runtime === 'interpreters')
    for (const { language, isAvailable } of interpreters)
      if (isAvailable) runtimes.push(await measureProcess(session, language));
  return { runtimes, notes: [] };
}

function render({ verdict, tokens, search, drift, overhead, runtimes, notes }: Measurement): string {
  const count = (value: number) => value.toLocaleString('en-US');
  const rows: [string, string][] = [
    ['tools', count(tokens.tools)],
    ['(a) all definitions up front', `${count(tokens.definitions)} tokens`],
    [
      '(b) what an agent reads here',
      `${count(tokens.catalog)} tokens${tokens.levels.length > 1 ? ` (${tokens.level})` : ''}`,
    ],
    ...(tokens.levels.length > 1 ? tokens.levels : []).map(({ level, tokenBudget, tokens: read }): [string, string] => [
      `    with prompt.tokenBudget: ${tokenBudget}`,
      `${count(read)} tokens (${level})`,
    ]),
    ['(c) added for a server, on average', `${count(tokens.perServer)} tokens`],
    ['(c) added for one tool, on average', `${count(tokens.perTool)} tokens`],
  ];
  const { isBelow } = tokens.breakEven;
  rows.push(['with defaults.codeMode: auto', isBelow ? 'tools given directly' : 'code mode']);
  if (search !== null) {
    const shares = [search.top1, search.top5, search.top10].map((share) => `${Math.round(100 * share)} %`);
    rows.push([`search, ${count(search.tasks)} tasks`, `${shares.join(', ')} among the first 1, 5, 10`]);
    for (const { query, missing } of search.missed.slice(0, MAX_MISSED))
      rows.push(['  not found', plain(`${missing.join(', ')} for ${JSON.stringify(query)}`)]);
  }
  if (overhead !== null) {
    rows.push([`sandbox (${overhead.runtime}, ${overhead.isolation}), a run`, milliseconds(overhead.run)]);
    rows.push(['broker and server, a call', milliseconds(overhead.call)]);
    rows.push(['  of that, the broker', milliseconds(overhead.broker)]);
  }
  for (const { runtime, run } of runtimes) rows.push([`${runtime}, a run`, milliseconds(run)]);
  if (drift !== null) rows.push(['a change of tools, noticed after', milliseconds(drift.detection)]);
  const width = Math.max(...rows.map(([label]) => label.length));
  const table = rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`);
  const answer = verdict.isWorthIt ? 'Code mode is worth it here' : 'Code mode is not worth it here';
  const remarks = tokens.levels.length > 1 ? [BUDGET_NOTE, ...notes] : notes;
  return `${styled('bold', answer)}: ${verdict.reason}.\n\n${table.join('\n')}\n${remarks.map((note) => `\n${plain(note)}\n`).join('')}`;
}

/** Both are counted in tokens, and appear on one line. */
const BUDGET_NOTE =
  'prompt.tokenBudget is how much the list of servers and tools may take. The tokens beside it are all that an agent then reads in (b): ' +
  'that list, the rules for programs and the schemas of our own tools. So they are usually more than the budget.';

const MAX_MISSED = 20;

function milliseconds({ p50, p95 }: Percentiles): string {
  return `${p50.toFixed(1)} ms (p50), ${p95.toFixed(1)} ms (p95)`;
}
