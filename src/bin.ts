import { runCommandLine } from './surfaces/cli/program.js';
import { compose } from './compose.js';

process.exitCode = await runCommandLine(process.argv, compose);
