import type { McpTarget } from '../../domain/targets/targets.js';
import { secretsOfAddress } from '../../lib/secrets/address-secrets.js';
import { isSecretName, SecretMask, secretsOf } from '../../lib/secrets/mask.js';

/** Masks the credentials of an upstream in every text about it. */
export function maskFor(target: McpTarget): SecretMask {
  if (target.kind === 'stdio')
    return new SecretMask([
      ...secretsOf(target.environment),
      ...secretsOf(namedSecrets(target.inherited)),
      ...target.arguments.flatMap(secretsOfAddress),
    ]);
  return new SecretMask([...secretsOf(target.headers), ...secretsOfAddress(target.url)]);
}

/** Only secrets: a region or a profile name is inherited too, and masking it would make messages unreadable. */
function namedSecrets(inherited: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(inherited).filter(([name]) => isSecretName(name)));
}
