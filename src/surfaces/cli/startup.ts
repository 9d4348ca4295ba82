import { traceSettings } from '../../config/schema/telemetry-schema.js';
import type { Isolation } from '../../host/host.js';
import { maskAddress } from '../../lib/secrets/address-secrets.js';
import type { Composed } from './composed.js';

const MAX_NAMES = 20;

/** What a person needs to know when serving starts. */
export function startupLines({ host, config, inventory }: Composed, { level, description }: Isolation): string[] {
  const names = host.health().flatMap(({ id, state }) => (state === 'disabled' ? [] : [id]));
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  const { notice } = inventory.view().forCode;
  const servers = notice ?? `servers: ${names.slice(0, MAX_NAMES).join(', ')}${more}`;
  const collector = traceSettings(config.telemetry)?.url;
  return [
    `isolation ${level} (${description}), profile ${config.profile}`,
    servers,
    ...(collector === undefined ? [] : [`traces go to ${maskAddress(collector)}`]),
  ];
}
