import { type Config, configuredLimits } from '../../config/schema/schema.js';
import { HostError } from '../../domain/errors.js';
import { MAXIMUM_LIMITS } from '../../domain/limits.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { MAX_TIMEOUT_MS, type ScriptDefaults } from './contract.js';

/** The configuration for scripts. Throws `bad_config` if scripts are disabled. */
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
      // The contract allows scripts without a limit on calls. A limit that the operator has lowered applies to them too.
      maxToolCalls: maximum.calls < MAXIMUM_LIMITS.maxToolCalls ? maximum.calls : Number.MAX_SAFE_INTEGER,
    },
  };
}

const SWITCHED_OFF =
  'code_execution is disabled in configuration; set enable_code_execution: true (in a file of codemode: codeExecution.enabled: true)';
