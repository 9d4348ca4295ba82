import { policyMistakes } from '../broker/policy/mistakes.js';
import type { FlagValue } from '../config/files/layers.js';
import { stateFolder } from '../config/files/state-folder.js';
import { type LoadedConfig, loadConfig } from '../config/load.js';
import { exposureWarnings } from '../config/trust/exposure.js';
import { readEnvironment } from '../config/variables/environment.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import type { HostSettings } from '../surfaces/cli/composed.js';
import { policyOptions } from './policy.js';

/** Loads the configuration for these settings. Throws `bad_config` and `untrusted_config`. */
export async function loadSettings(settings: HostSettings, inline?: unknown): Promise<LoadedConfig> {
  const environment = readEnvironment();
  const loaded = await loadConfig({
    cwd: process.cwd(),
    environment,
    flags: flagsOf(settings),
    findMistakes: async (config, upstreams, disabled) => {
      const unreadable = new Set(disabled.map(({ id }) => id));
      const isUnreadable = (server: string) => unreadable.has(server);
      return policyMistakes(await policyOptions(config, upstreams), isUnreadable).map(({ path, problem }) => ({
        path: ['policy', ...path],
        problem,
      }));
    },
    ...omitUndefined({
      inline,
      configFile: settings.configFile,
      projectFolder: settings.projectFolder,
      takesProxyFile: settings.takesProxyFile,
      confirmTrust: settings.confirmTrust,
    }),
  });
  const places = { file: loaded.file, stateFolder: stateFolder(environment) };
  return { ...loaded, warnings: [...loaded.warnings, ...exposureWarnings(loaded.upstreams, places)] };
}

function flagsOf({ isolation, profile, host, port, logLevel }: HostSettings): FlagValue[] {
  const flags = [
    { path: ['sandbox', 'isolation'], value: isolation, flag: '--isolation' },
    { path: ['profile'], value: profile, flag: '--profile' },
    { path: ['server', 'host'], value: host, flag: '--host' },
    { path: ['server', 'port'], value: port, flag: '--port' },
    { path: ['logging', 'level'], value: logLevel, flag: '--log-level' },
  ];
  return flags.flatMap(({ value, ...flag }) => (value === undefined ? [] : [{ ...flag, value }]));
}
