import { type Config, configuredLimits } from '../../config/schema/schema.js';
import { HostError } from '../../domain/errors.js';
import { MAXIMUM_LIMITS } from '../../domain/limits.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { MAX_TIMEOUT_MS, type ScriptDefaults } from './contract.js';

/** What the configuration says about scripts. Throws `bad_config` where it switches them off. */
export function scriptDefaults(config: Config): ScriptDefaults {
  const { enabled, timeout, maxToolCalls } = config.codeExecution;
  if (!enabled) throw new HostError('bad_config', SWITCHED_OFF);
  const { maxMemoryBytes, maxLogBytes, cpuQuota } = configuredLimits(config);
  const { maximum } = config.sandbox.limits;
  return {
    timeoutMs: timeout,
    maxToolCalls,
    memory: { maxMemoryBytes, maxLogBytes, ...omitUndefined({ cpuQuota }) },
    most: {
      timeoutMs: Math.min(MAX_TIMEOUT_MS, maximum.timeout),
      // The contract knows scripts without a limit on calls; one that the operator has lowered holds for them too.
      maxToolCalls: maximum.calls < MAXIMUM_LIMITS.maxToolCalls ? maximum.calls : Number.MAX_SAFE_INTEGER,
    },
  };
}

const SWITCHED_OFF =
  'code_execution is disabled in configuration; set enable_code_execution: true (in a file of codemode: codeExecution.enabled: true)';
