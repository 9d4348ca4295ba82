import { readEnvironment } from './config/environment.js';
import type { Config } from './config/schema.js';
import { findInterpreters } from './host/interpreters.js';
import type { Machine } from './profiles/registry.js';

/** Real interpreters are looked for where the contract offers them. */
export async function lookAround({ profile, runner }: Config): Promise<Machine> {
  if (profile !== 'runner') return { runtimes: [] };
  const searchPath = readEnvironment().PATH ?? '';
  return { runtimes: await findInterpreters({ nodePath: runner.node, pythonPath: runner.python, searchPath }) };
}
