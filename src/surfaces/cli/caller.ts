import type { CallerId } from '../../domain/run.js';

/** Who calls where a person at a terminal does. */
export const COMMAND_LINE_CALLER = 'command line' as CallerId;
