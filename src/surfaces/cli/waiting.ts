import { HostError } from '../../domain/errors.js';
import type { AskingProgress } from '../../host/inventory.js';
import { plain } from './terminal.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
const FRAME_MS = 100;
/** Work that ends sooner shows no spinner: a flash tells nobody anything. */
const PATIENCE_MS = 150;
const MAX_NAMED = 4;
const CLEAR_LINE = '\r\u001b[2K';

/**
 * Does something that may take long: with a spinner where somebody looks at standard error, and until somebody
 * interrupts it, which is thrown as `cancelled` so that everything that was opened is closed.
 */
export async function waitFor<T>(what: string, work: (say: (more: string) => void) => Promise<T>): Promise<T> {
  let more = '';
  const stop = spin(() => `${what}${more === '' ? '' : `: ${more}`}`);
  let interrupt: () => void = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = () => reject(new HostError('cancelled', 'interrupted'));
  });
  for (const signal of SIGNALS) process.once(signal, interrupt);
  try {
    const said = (text: string) => {
      more = text;
    };
    return await Promise.race([work(said), interrupted]);
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
    stop();
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** What a spinner says while servers are being asked. */
export function asking(say: (more: string) => void): AskingProgress {
  return (total, waitingFor) => {
    const names = waitingFor.slice(0, MAX_NAMED).join(', ');
    const rest = waitingFor.length > MAX_NAMED ? ` and ${waitingFor.length - MAX_NAMED} more` : '';
    say(`${total - waitingFor.length} of ${total} answered${names === '' ? '' : `, waiting for ${names}${rest}`}`);
  };
}

function spin(text: () => string): () => void {
  const { stderr } = process;
  if (stderr.isTTY !== true) return () => {};
  let frame = 0;
  const draw = () => {
    const line = `${FRAMES[frame++ % FRAMES.length]} ${plain(text())}`;
    stderr.write(`${CLEAR_LINE}${line.slice(0, Math.max(20, (stderr.columns ?? 80) - 1))}`);
  };
  let timer: NodeJS.Timeout | undefined = setTimeout(() => {
    draw();
    timer = setInterval(draw, FRAME_MS);
  }, PATIENCE_MS);
  return () => {
    clearTimeout(timer);
    if (frame > 0) stderr.write(CLEAR_LINE);
    timer = undefined;
  };
}
