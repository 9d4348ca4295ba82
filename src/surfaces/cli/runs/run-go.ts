import { codeModeOf } from '../../../config/schema/code-mode.js';
import type { Approval } from '../../../domain/approval.js';
import { ERRORS, HostError } from '../../../domain/errors.js';
import type { AskPerson } from '../../../host/runs/run.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { goPresentation } from '../../../profiles/go/presentation.js';
import { runProgram } from '../../../profiles/go/run-program.js';
import { goSettings } from '../../../profiles/go/settings.js';
import { COMMAND_LINE_CALLER } from '../caller.js';
import type { Composed } from '../composed.js';
import { askerOnTerminal } from '../terminal/ask-on-terminal.js';
import { withProgress } from '../terminal/progress.js';
import { plain, plainLine, printableJson } from '../terminal/terminal.js';
import { isForPeople } from './print-run.js';
import type { RunOptions } from './run-program.js';

/** Runs one program of profile go and writes its response to stdout. Returns the exit status. */
export async function runGo(
  { host, config }: Composed,
  source: string,
  { given, output, signal }: RunOptions,
): Promise<number> {
  const settings = goSettings(config);
  const { timeoutMs, maxMemoryBytes } = settings.limits;
  const { maximum } = config.sandbox.limits;
  const limits = {
    ...settings.limits,
    timeoutMs: atMost('--timeout', given.timeoutMs ?? timeoutMs, maximum.timeout),
    maxMemoryBytes: atMost('--memory', given.maxMemoryBytes ?? maxMemoryBytes, maximum.memory),
  };
  const session = host.openSession({
    caller: COMMAND_LINE_CALLER,
    profile: 'go',
    presentation: goPresentation,
    codeMode: codeModeOf(config),
    reservedNames: [],
    maxResultBytes: limits.maxStdoutBytes,
  });
  const asker = askerOnTerminal(host.approvals) ?? (process.stderr.isTTY ? tellOf : undefined);
  const { response, notes, hasFailed } = await withProgress('running the program', ({ hold, onStep }) => {
    const askPerson: AskPerson | undefined = asker && ((asked, stop) => hold(() => asker(asked, stop)));
    const asking = omitUndefined({ askPerson });
    const onNotice = (text: string) => void process.stderr.write(`codemode: ${plain(text)}\n`);
    return runProgram(session, source, { ...settings, limits }, { signal, onStep, onNotice, ...asking });
  });
  for (const note of notes) process.stderr.write(`codemode: ${plain(note)}\n`);
  if (isForPeople(output))
    process.stdout.write(plain(response.output.endsWith('\n') ? response.output : `${response.output}\n`));
  else process.stdout.write(`${printableJson(response, output.pretty === true)}\n`);
  if (signal.aborted) return ERRORS.cancelled.exit;
  return hasFailed ? 1 : 0;
}

function atMost(flag: string, value: number, most: number): number {
  if (value <= most) return value;
  throw new HostError('bad_input', `${flag} is ${value}; sandbox.limits.maximum of the configuration allows ${most}`);
}

/** A person who reads this can decide on another terminal. The program waits. */
async function tellOf(approvals: readonly Approval[]): Promise<void> {
  for (const { id, tool } of approvals)
    process.stderr.write(
      `${plainLine(`${tool.serverId}/${tool.toolName} waits for approval; type: codemode approvals approve ${id}`)}\n`,
    );
}
