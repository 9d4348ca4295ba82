import { type Config, configuredLimits } from '../config/schema/schema.js';
import { HostError } from '../domain/errors.js';
import { eachLimit } from '../domain/limits.js';
import type { GoStatus, ProcessRuntimeStatus } from '../domain/process-program.js';
import type { ProfileName } from '../domain/profile-name.js';
import type { ReplayBounds } from '../host/recordings/replay-bounds.js';
import { configuredBounds, configuredGrantLimits } from '../host/runs/capability-grants.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import { createCodeExecutionProfile } from './code-execution/profile.js';
import { scriptDefaults } from './code-execution/settings.js';
import { createCodemodeProfile } from './codemode/profile.js';
import { createGoProfile } from './go/profile.js';
import { goSettings } from './go/settings.js';
import type { Profile } from './profile.js';
import { createRunnerProfile } from './runner/profile.js';
import { runnerSettings } from './runner/settings.js';
import { DEFAULT_LIMITS } from './unified/default-limits.js';
import type { ExecuteSettings } from './unified/execute.js';
import { createUnifiedProfile } from './unified/profile.js';

/** All contracts by name. */
const PROFILES: Readonly<Partial<Record<ProfileName, (config: Config, machine: Machine) => Profile>>> = {
  codemode: (config) =>
    createCodemodeProfile({
      limits: { defaults: configuredLimits(config), maximum: maximumLimits(config) },
      answer: config.response,
      ...named(config),
    }),
  code_execution: (config) =>
    createCodeExecutionProfile({
      defaults: scriptDefaults(config),
      maxTokens: config.response.maxTokens,
      ...named(config),
    }),
  runner: (config, { runtimes }) =>
    createRunnerProfile({ settings: runnerSettings(config), runtimes, maxTokens: config.response.maxTokens }),
  unified: (config) =>
    createUnifiedProfile({ ...executeSettings(config), ...named(config), maxTokens: config.response.maxTokens }),
  go: (config, { go }) =>
    createGoProfile({
      settings: goSettings(config),
      status: go ?? NOT_LOOKED_FOR,
      maxTokens: config.response.maxTokens,
      ...named(config),
    }),
};

/** What contracts need to know about the machine. */
export interface Machine {
  /** Real interpreters. Not detected if the contract does not use them. */
  readonly runtimes: readonly ProcessRuntimeStatus[];
  readonly go?: GoStatus;
}

const UNKNOWN: Machine = { runtimes: [] };
const NOT_LOOKED_FOR: GoStatus = {
  isAvailable: false,
  reason: 'it was not looked for',
  fix: 'Run: codemode doctor.',
};

/** The settings of contract `unified`, also if another contract is served beside it. */
export function executeSettings(config: Config): ExecuteSettings {
  const { memory, cpuQuota } = config.sandbox.limits;
  const { execution } = DEFAULT_LIMITS;
  const defaults = {
    ...configuredLimits(config),
    maxMemoryBytes: memory ?? execution.memoryLimit,
    cpuQuota: cpuQuota ?? execution.cpuQuota,
  };
  return {
    limits: { defaults, maximum: maximumLimits(config) },
    bounds: configuredBounds(config.security.capabilities),
    grantLimits: configuredGrantLimits(config.security.capabilities),
    retriesTimeouts: config.sandbox.retryOnTimeout,
    isServer: (name) => name in config.mcpServers,
  };
}

/** The limits of a replayed program. They come from this configuration, never from the recording. */
export function replayBounds(config: Config): ReplayBounds {
  const { limits, most } = runnerSettings(config);
  const ofRunner = { ...limits, ...most };
  const ofGo = { ...goSettings(config).limits, ...most };
  return { program: maximumLimits(config), process: { node: ofRunner, python: ofRunner, go: ofGo } };
}

function named({ toolName }: Config) {
  return omitUndefined({ toolName });
}

/** The configured profile. Throws `bad_config` if it cannot be served. */
export function createProfile(config: Config, machine: Machine = UNKNOWN): Profile {
  const create = PROFILES[config.profile];
  if (create !== undefined) return create(config, machine);
  throw new HostError(
    'bad_config',
    `profile ${config.profile} cannot be served here; use one of: ${Object.keys(PROFILES).join(', ')}`,
  );
}

function maximumLimits({ sandbox: { limits } }: Config) {
  return eachLimit(({ setting }) => limits.maximum[setting]);
}
