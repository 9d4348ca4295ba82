import { type Config, configuredLimits } from '../../config/schema.js';
import { HostError } from '../../domain/errors.js';
import type { ScriptDefaults } from './contract.js';

/** What the configuration says about scripts. Throws `bad_config` where it switches them off. */
export function scriptDefaults(config: Config): ScriptDefaults {
  const { enabled, timeout, maxToolCalls } = config.codeExecution;
  if (!enabled) throw new HostError('bad_config', SWITCHED_OFF);
  const { maxMemoryBytes, maxLogBytes } = configuredLimits(config);
  return { timeoutMs: timeout, maxToolCalls, memory: { maxMemoryBytes, maxLogBytes } };
}

const SWITCHED_OFF =
  'code_execution is disabled in configuration; set enable_code_execution: true (in a file of codemode: codeExecution.enabled: true)';
