import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HostError } from '../../../domain/errors.js';
import { DEFAULT_LIMITS } from '../../../domain/limits.js';
import { DEMO_CALLER } from '../../../domain/own-callers.js';
import type { Host, Isolation } from '../../../host/host.js';
import { isEnded, type Presentation, type RunSummary } from '../../../host/runs/run-types.js';
import type { Session } from '../../../host/session.js';
import { codemodePresentation } from '../../../profiles/codemode/presentation.js';
import { type RunResponse, renderResponse } from '../../../profiles/codemode/render.js';
import { connectAClient } from '../clients/connect-a-client.js';
import type { CommandContext, Register } from '../command.js';
import type { Composed } from '../composed.js';
import { examplesFolder } from '../examples-folder.js';
import { openLog } from '../log.js';
import { stopSignal } from '../stop-signals.js';
import { waitFor } from '../terminal/progress.js';
import { plain, printableJson, styled } from '../terminal/terminal.js';
import { hasPersonAtTerminal } from '../terminal/terminal-line.js';
import { userName } from '../user-name.js';

export const register: Register = (program, context) => {
  program
    .command('demo')
    .description('run an example program against example servers, and show what it saves')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (flags: { json?: boolean }) => {
      context.exitWith(await demo(flags.json === true, context));
    });
};

const HELP = `
Needs no configuration: the servers come with codemode, and their data is made up.
On a terminal it ends with a link to the console, where the run can be looked at; Ctrl-C stops it.
--json prints { "isolation", "response", "timing", "read" }; "response" is what an agent would get.

Exit status: 0, 1 the program failed, 69 no jail available.
`;

/** Consecutive runs in fresh sandboxes: the first pays for compiling the engine, the rest show what a run costs. */
const RUNS = 100;
/** For JSON with English words, by common tokenizers. */
const BYTES_PER_TOKEN = 4;

interface Timing {
  readonly startMs: number;
  readonly programMs: number;
  readonly tinyProgramMedianMs: number;
}

async function demo(isJson: boolean, context: CommandContext): Promise<number> {
  const examples = examplesFolder();
  const source = readFileSync(join(examples, 'join.ts'), 'utf8');
  const read = { toolResultBytes: 0 };
  const startedAt = performance.now();
  const composed = await context.compose({ configFile: join(examples, 'codemode.config.yaml') });
  const { host } = composed;
  await using _ = host;
  const session = openSession(host, read);
  const { summary, timing } = await waitFor('starting three servers and a sandbox', async () => {
    await host.warm();
    const startMs = performance.now() - startedAt;
    const ran = await runOnce(session, source);
    return { summary: ran, timing: { startMs, programMs: ran.durationMs, tinyProgramMedianMs: await median(session) } };
  });
  const response = renderResponse(summary);
  const isolation = await host.open();
  if (isJson) {
    const bytes = { ...read, responseBytes: bytesOf(response) };
    process.stdout.write(`${printableJson({ isolation: { ...isolation }, response, timing, read: bytes }, true)}\n`);
  } else {
    process.stdout.write(render(source, response, isolation, timing, read.toolResultBytes));
    if (hasPersonAtTerminal()) await showConsole(composed);
  }
  return summary.outcome.status === 'completed' ? 0 : 1;
}

/** Serves the console until the person has looked at the runs. */
async function showConsole(composed: Composed): Promise<void> {
  if (await composed.isApproverSecretMade()) {
    // A link may approve calls, and the demo does not ask for the secret.
    process.stdout.write(`${styled('bold', 'Look at it in your browser')}\n  codemode console\n`);
    return;
  }
  const stop = stopSignal();
  const service = await composed.serveConsole({ log: openLog(composed.config.logging), port: 0 });
  const link = await service.consoleLink({ role: 'owner', name: `${userName()} (console)` });
  process.stdout.write(
    `${styled('bold', 'Look at it in your browser (the link works once; Ctrl-C ends the demo)')}\n  ${link}\n`,
  );
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener('abort', () => resolve(), { once: true });
  });
  await service.close();
}

/** Counts the bytes of tool results: an agent that calls the tools itself reads all of them. */
function openSession(host: Host, read: { toolResultBytes: number }): Session {
  const presentation: Presentation = {
    ...codemodePresentation,
    reply(outcome) {
      const reply = codemodePresentation.reply(outcome);
      if (reply.ok) read.toolResultBytes += Buffer.byteLength(reply.json);
      return reply;
    },
  };
  return host.openSession({
    caller: DEMO_CALLER,
    profile: 'codemode',
    presentation,
    codeMode: { enabled: true, excludedTools: [] },
    reservedNames: [],
    maxResultBytes: Number.POSITIVE_INFINITY,
  });
}

async function runOnce(session: Session, source: string): Promise<RunSummary> {
  const answer = await session.run({ source, language: 'typescript', limits: DEFAULT_LIMITS });
  if (!isEnded(answer)) throw new HostError('internal', 'the demo program did not end');
  return answer.summary;
}

async function median(session: Session): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < RUNS; index++) {
    const from = performance.now();
    await runOnce(session, 'globalThis.__codemode_result__ = 6 * 7;');
    times.push(performance.now() - from);
  }
  return times.sort((left, right) => left - right)[RUNS / 2] as number;
}

function render(
  source: string,
  response: RunResponse,
  isolation: Isolation,
  timing: Timing,
  toolBytes: number,
): string {
  const { logs, result, diagnostics, toolTrace } = response;
  const trace = toolTrace.map(
    ({ serverId, toolName, durationMs, ok }) => `${ok ? 'ok  ' : 'fail'}  ${serverId}/${toolName}  ${durationMs} ms`,
  );
  const sections: [string, string][] = [
    ['The program an agent might write', plain(source)],
    ['Its result', printableJson(result, true)],
    ['Its log', logs.map(({ level, message }) => `${level}: ${plain(message)}`).join('\n')],
    ['The tools it called', plain(trace.join('\n'))],
    ['What the agent would have read without it', comparison(response, toolBytes)],
    [
      'Where it ran',
      `isolation ${styled('bold', isolation.level)}: ${isolation.description}\n` +
        `servers and sandbox ready in ${timing.startMs.toFixed(0)} ms; the program took ${timing.programMs.toFixed(0)} ms\n` +
        `a tiny program in a fresh sandbox: ${timing.tinyProgramMedianMs.toFixed(2)} ms (median of ${RUNS})`,
    ],
    ['Your own servers and client', connectAClient()],
  ];
  if (diagnostics.length > 0) sections.splice(3, 0, ['Diagnostics', printableJson(diagnostics, true)]);
  return sections
    .map(([title, text]) => `${styled('bold', title)}\n${text.trimEnd().replace(/^(?=.)/gm, '  ')}\n\n`)
    .join('');
}

function comparison(response: RunResponse, toolBytes: number): string {
  const bytes = bytesOf(response);
  const line = (label: string, count: number) =>
    `${label.padEnd(36)} ${count.toLocaleString('en').padStart(11)} bytes, about ${Math.round(count / BYTES_PER_TOKEN).toLocaleString('en')} tokens`;
  return [
    line('the results of its calls, one by one', toolBytes),
    line('the response of one program', bytes),
    `${Math.round(toolBytes / bytes).toLocaleString('en')} times less`,
  ].join('\n');
}

function bytesOf(response: RunResponse): number {
  return Buffer.byteLength(JSON.stringify(response));
}
