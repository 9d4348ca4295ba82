import type { CallerId } from '../../domain/run.js';

/** The caller for a person at a terminal. */
export const COMMAND_LINE_CALLER = 'command line' as CallerId;
