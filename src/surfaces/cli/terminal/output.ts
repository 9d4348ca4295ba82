import { ERRORS } from '../../../domain/errors.js';
import { plainLine } from './terminal.js';

/**
 * Watches for write errors on stdout and stderr. A reader that has gone (`| head`) is not a failure. Output that cannot be
 * written, as on a full disk, is one. Without a listener either would end the process with a stack trace.
 */
export function watchOutput(): Output {
  let hasFailed = false;
  const statusFor = (status: number) => (hasFailed ? ERRORS.internal.exit : status);
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (isReaderGone(code) || hasFailed) return;
    hasFailed = true;
    // The last write may fail after the command is over.
    process.exitCode = statusFor(0);
    process.stderr.write(`codemode: the output could not be written: ${plainLine(message)}\n`);
  });
  // If stderr cannot be written, nothing can be reported.
  process.stderr.on('error', () => {});
  return { statusFor };
}

export interface Output {
  /** The exit status of a completed command: its own, unless its output could not be written. */
  statusFor(status: number): number;
}

/** A pipe whose other end is closed, a closed terminal, or a stream that Node destroyed after either. */
function isReaderGone(code: string | undefined): boolean {
  return code === 'EPIPE' || code === 'EIO' || code === 'ERR_STREAM_DESTROYED';
}

/** Whether anybody can still read what is written. */
export function isOpen(stream: NodeJS.WriteStream): boolean {
  return !stream.destroyed && stream.writable;
}

/** Resolves when more can be written, or when the reader has gone. */
export function whenWritable(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const events = ['drain', 'close', 'error'] as const;
    const over = () => {
      for (const event of events) stream.off(event, over);
      resolve();
    };
    for (const event of events) stream.on(event, over);
    if (!isOpen(stream)) over();
  });
}
