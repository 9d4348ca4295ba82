import { existsSync } from 'node:fs';
import { HostError } from '../../../domain/errors.js';
import type { LiveComparison } from '../../../host/host.js';
import { MAX_RECORDING_CHARACTERS } from '../../../host/recordings/recorded-call.js';
import { type AnyRecording, decodeRecording, encodeRecording } from '../../../host/recordings/recording.js';
import { writeWhole } from '../../../lib/files/write-whole.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { COMMAND_LINE_CALLER } from '../caller.js';
import { type CommandContext, EXIT, type Register, withRecords } from '../command.js';
import { readNamedFile } from '../runs/read-source.js';
import { runIdOf } from '../runs/run-id.js';
import { waitFor } from '../terminal/progress.js';
import { plainLine, printableJson, styled } from '../terminal/terminal.js';

interface ReplayFlags {
  readonly against?: string;
  readonly export?: string;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('replay')
    .description('run a recorded program again, offline, and compare the results')
    .argument(
      '<run>',
      'id of a run that ended, or the first 4 or more characters of it, or last, or a file that --export wrote',
    )
    .option('--against <what>', 'live: also make the calls of read-only tools again, and show what has changed')
    .option('--export <file>', 'write the recording to a file, to be replayed anywhere, and do nothing else')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (run: string, flags: ReplayFlags) => {
      context.exitWith(await replay(run, flags, context));
    });
};

const HELP = `
Everything the program asks for is answered from the record: no server is called, unless --against live is given.
Then recorded calls of tools that only read are made again, with the recorded arguments: as you, not as the caller in the recording. Your
policy decides about each, and what it would ask a person about is not called. Look into a file that somebody else gave you first.
An exported recording holds what the tools answered then (redacted) and the source of the program: treat it like your data.
--json prints { "runId", "same", "difference", "live": [{ "call", "tool", "state", "detail" }] }.

Exit status: 0 the same, 1 different, 2 no such run or recording, 69 no jail.
`;

async function replay(name: string, flags: ReplayFlags, context: CommandContext): Promise<number> {
  const isLive = flags.against?.toLowerCase() === 'live';
  if (flags.against !== undefined && !isLive)
    throw new HostError('bad_input', `--against: expected live, found ${JSON.stringify(flags.against.slice(0, 40))}`);
  const recording = await find(name, context);
  if (flags.export !== undefined) return exportTo(flags.export, recording);
  const { host, config } = await context.compose();
  await using _ = host;
  const { verdict, live } = await waitFor('running it again', async () => ({
    verdict: await host.replay(recording),
    live: isLive ? await host.compareLive(recording, { caller: COMMAND_LINE_CALLER, profile: config.profile }) : [],
  }));
  const { runId, isSame, difference } = verdict;
  if (flags.json === true) {
    const said = {
      runId,
      same: isSame,
      ...omitUndefined({ difference }),
      ...(isLive ? { live } : {}),
    };
    process.stdout.write(`${printableJson(said, true)}\n`);
  } else {
    const word = isSame ? styled('green', 'same') : styled('red', 'different');
    process.stdout.write(`${word}${difference === undefined ? '' : `: ${plainLine(difference)}`}\n`);
    for (const each of live) process.stdout.write(`${lineOf(each)}\n`);
  }
  const hasDrifted = live.some(({ state }) => state !== 'same' && state !== 'skipped');
  return isSame && !hasDrifted ? EXIT.ok : EXIT.failed;
}

/** The store keeps no recording of more than 8 Mi characters, each of up to three bytes. */
const RECORDING = { name: 'recording', maxBytes: 3 * MAX_RECORDING_CHARACTERS, advice: 'it was not made by --export' };

/** An existing file of that name takes precedence: run ids do not look like file names. */
async function find(name: string, context: CommandContext): Promise<AnyRecording> {
  if (existsSync(name)) return decodeRecording((await readNamedFile(name, RECORDING)).toString('utf8'));
  return withRecords(context, async ({ suspended }) => suspended.recordingOf(await runIdOf(suspended, name)));
}

async function exportTo(file: string, recording: AnyRecording): Promise<number> {
  try {
    await writeWhole(file, `${encodeRecording(recording)}\n`, { mode: 0o600, replaces: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'it is there already' : (code ?? 'unknown reason');
    throw new HostError('bad_input', `${file} could not be written: ${why}`, { cause: error });
  }
  process.stderr.write(`written to ${plainLine(file)}\n`);
  return EXIT.ok;
}

function lineOf({ call, tool, state, detail }: LiveComparison): string {
  return plainLine(`call ${call}  ${tool}  ${state}${detail === undefined ? '' : `: ${detail}`}`);
}
