import { join } from 'node:path';
import type { Environment } from './environment.js';
import { configFolder, type LoadedConfig, type LoadRequest } from './load.js';

/** Where a configuration is looked for, in this order, in words for people. */
export function searchedPlaces({ cwd, environment }: Pick<LoadRequest, 'cwd' | 'environment'>): string[] {
  return [
    '--config FILE',
    `${join(cwd, 'codemode.config')}.{yaml,yml,json}`,
    `${join(configFolder(environment), 'config')}.{yaml,yml,json}`,
  ];
}

/** What to type where there are no servers. */
export const ADD_SERVERS = 'codemode init (takes servers over from other clients), or: codemode add NAME -- COMMAND';

/** Said to people and models where no server is configured: what was looked at, and what to type. */
export function nothingConfigured({ file }: Pick<LoadedConfig, 'file'>, environment: Environment): string {
  const why =
    file === undefined
      ? `no configuration was found; searched: ${searchedPlaces({ cwd: process.cwd(), environment }).join(', ')}`
      : `${file} has none under mcpServers`;
  return `No servers are configured: ${why}. The user types: ${ADD_SERVERS}`;
}
