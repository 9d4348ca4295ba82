import type { LoadedConfig } from './load.js';

const WHAT_TO_DO =
  'Import the servers of your other clients with: codemode init. Add one with: codemode add NAME -- COMMAND';

/** The message if no server is configured: why, where the configuration was searched for, and what to type. */
export function nothingConfigured({
  config,
  file,
  searched,
}: Pick<LoadedConfig, 'config' | 'file' | 'searched'>): string | undefined {
  if (Object.keys(config.mcpServers).length > 0) return undefined;
  if (file !== undefined) return `${file} lists no servers. ${WHAT_TO_DO}`;
  if (searched.length === 0) return undefined;
  return `no configuration was found. Searched: ${describeSearch(searched)}. ${WHAT_TO_DO}`;
}

/** `--config (not set), CODEMODE_CONFIG (not set), /work/codemode.config.{yaml,yml,json} (not found), …` */
export function describeSearch(searched: LoadedConfig['searched']): string {
  return searched.map(({ place, state }) => `${place} (${state})`).join(', ');
}
