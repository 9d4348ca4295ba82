import { HostError } from '../../../domain/errors.js';
import { type OnStep, type Step, type StepSource, stepText } from '../../../domain/step.js';
import type { AskingProgress } from '../../../host/tools/inventory.js';
import { cutToWidth } from './display-width.js';
import { plainLine, terminalWidth } from './terminal.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
const FRAME_MS = 100;
/** Shorter work shows no spinner: a flash informs nobody. */
const PATIENCE_MS = 150;
/** Interval between lines if stderr is not a terminal. */
const TICK_MS = 5_000;
const MAX_NAMED = 4;
const CLEAR_LINE = '\r\u001b[2K';

/** What is shown while work takes long. */
export interface Waiting {
  /** Adds a detail: `2 of 3 answered`. */
  readonly say: (more: string) => void;
  /** Sets the current long step if it changes; `undefined` when it is over. */
  readonly onStep: OnStep;
  /** Shows nothing while a person is asked: a question and a spinner on one line are unreadable. */
  hold<Result>(work: () => Promise<Result>): Promise<Result>;
}

/**
 * Does work that may take long. Shows a spinner if stderr is a terminal, otherwise prints a line every 5 seconds. An
 * interruption ends it and is thrown as `cancelled`, so that everything that was opened is closed.
 */
export async function waitFor<T>(what: string, work: (say: (more: string) => void) => Promise<T>): Promise<T> {
  let interrupt: () => void = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = () => reject(new HostError('cancelled', 'interrupted'));
  });
  interrupted.catch(() => {});
  for (const signal of SIGNALS) process.once(signal, interrupt);
  try {
    return await withProgress(what, ({ say }) => Promise.race([work(say), interrupted]));
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}

/** The same for work that stops by itself when it is interrupted. */
export async function withProgress<T>(what: string, work: (waiting: Waiting) => Promise<T>): Promise<T> {
  const startedAtMs = performance.now();
  let more = '';
  let step: StepSource | undefined;
  let held = 0;
  const stepNow = (): Step => step?.() ?? { doing: `${what}${more === '' ? '' : `: ${more}`}` };
  const seconds = () => Math.round((performance.now() - startedAtMs) / 1_000);
  const isHeld = () => held > 0;
  const stop =
    process.stderr.isTTY === true
      ? spin(() => spun(stepNow(), seconds()), isHeld)
      : tick(() => stepText(stepNow(), seconds()), isHeld);
  try {
    return await work({
      say: (text) => {
        more = text;
      },
      onStep: (next) => {
        step = next;
      },
      hold: async (asking) => {
        held++;
        if (process.stderr.isTTY === true) process.stderr.write(CLEAR_LINE);
        try {
          return await asking();
        } finally {
          held--;
        }
      },
    });
  } finally {
    stop();
  }
}

/** Seconds are shown only if there are many. */
function spun(step: Step, seconds: number): string {
  return seconds < TICK_MS / 1_000 ? step.doing : stepText(step, seconds);
}

/** Prints a line every few seconds if there is no spinner: a reader of the log sees that it is alive, and what it does. */
function tick(text: () => string, isHeld: () => boolean): () => void {
  const timer = setInterval(() => {
    if (!isHeld()) process.stderr.write(`codemode: ${plainLine(text())}\n`);
  }, TICK_MS);
  return () => clearInterval(timer);
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** What a spinner shows while servers are being asked. */
export function asking(say: (more: string) => void): AskingProgress {
  return (total, waitingFor) => {
    const names = waitingFor.slice(0, MAX_NAMED).join(', ');
    const rest = waitingFor.length > MAX_NAMED ? ` and ${waitingFor.length - MAX_NAMED} more` : '';
    say(`${total - waitingFor.length} of ${total} answered${names === '' ? '' : `, waiting for ${names}${rest}`}`);
  };
}

function spin(text: () => string, isHeld: () => boolean): () => void {
  const { stderr } = process;
  let frame = 0;
  const draw = () => {
    if (isHeld()) return;
    const line = `${FRAMES[frame++ % FRAMES.length]} ${plainLine(text())}`;
    stderr.write(`${CLEAR_LINE}${cutToWidth(line, Math.max(20, (terminalWidth(stderr) ?? 80) - 1))}`);
  };
  let timer: NodeJS.Timeout | undefined = setTimeout(() => {
    draw();
    timer = setInterval(draw, FRAME_MS);
  }, PATIENCE_MS);
  return () => {
    clearTimeout(timer);
    if (frame > 0 && !isHeld()) stderr.write(CLEAR_LINE);
    timer = undefined;
  };
}
