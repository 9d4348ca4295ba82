import { goCacheFolder } from '../config/files/state-folder.js';
import type { Config } from '../config/schema/schema.js';
import { readEnvironment } from '../config/variables/environment.js';
import { needsOf } from '../domain/profile-name.js';
import { findGoToolchain, findInterpreters } from '../host/processes/interpreters.js';
import type { Machine } from '../profiles/registry.js';
import { workerFolder } from '../worker-folder.js';

/** Looks for real interpreters and Go if the contract offers them. */
export async function findRuntimes(config: Config): Promise<Machine> {
  const { profile, runner, go } = config;
  const environment = readEnvironment();
  const searchPath = environment.PATH ?? '';
  const { runtime } = needsOf(profile);
  if (runtime === 'go') {
    const cacheFolder = goCacheFolder(config, environment, process.getuid?.());
    const places = { path: go.path, searchPath, cacheFolder, workerFolder: workerFolder() };
    return { runtimes: [], go: await findGoToolchain(places) };
  }
  if (runtime !== 'interpreters') return { runtimes: [] };
  return { runtimes: await findInterpreters({ nodePath: runner.node, pythonPath: runner.python, searchPath }) };
}

/** What this machine lacks for the configured contract, and the command that fixes it. */
export function machineWarnings({ go }: Machine, { profile, sandbox }: Config): string[] {
  const isProcess = needsOf(profile).runtime !== 'quickjs';
  const quota =
    isProcess && sandbox.limits.cpuQuota !== undefined
      ? [`sandbox.limits.cpuQuota is not enforced in profile ${profile}: its programs are separate processes`]
      : [];
  if (go === undefined || go.isAvailable) return quota;
  return [...quota, `Go is not available, so profile go has no tool: ${go.reason}. ${go.fix}`];
}
