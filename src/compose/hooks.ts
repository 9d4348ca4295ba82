import { dirname } from 'node:path';
import type { Hooks } from '../broker/hooks/hooks.js';
import type { Redactor } from '../broker/redaction/redactor.js';
import type { LoadedConfig } from '../config/load.js';
import { configuredHooks } from '../config/schema/hooks-schema.js';
import { inheritedEnvironment, readEnvironment } from '../config/variables/environment.js';
import { secretsIn } from '../lib/secrets/secret-values.js';
import type { UpstreamRegistry } from '../upstream/registry.js';

/** The configured hooks. Nothing is loaded if there are none. A part of `compose/compose.ts`. */
export async function openHooks(
  { config, file }: LoadedConfig,
  redactor: Redactor,
  { childGroups: groups }: UpstreamRegistry,
  onProblem: (message: string) => void,
): Promise<Hooks | undefined> {
  if (config.hooks.length === 0) return undefined;
  const folder = file === undefined ? process.cwd() : dirname(file);
  const hooks = configuredHooks(config.hooks, folder);
  for (const { target } of hooks) {
    const headers = target.kind === 'http' ? Object.entries(target.headers) : [];
    for (const secret of headers.flatMap(([name, value]) => secretsIn(name, value))) redactor.add(secret);
  }
  const { Hooks: Opened } = await import('../broker/hooks/hooks.js');
  const environment = inheritedEnvironment(readEnvironment());
  return new Opened({ hooks, environment, groups, warn: (message) => onProblem(redactor.text(message)) });
}
