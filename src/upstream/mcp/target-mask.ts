import type { McpTarget } from '../../domain/upstream.js';
import { isSecretName, SecretMask, secretsOf, secretsOfUrl } from '../../lib/mask.js';

/** Hides the credentials of an upstream in whatever is said about it. */
export function maskFor(target: McpTarget): SecretMask {
  if (target.kind === 'stdio')
    return new SecretMask([...secretsOf(target.environment), ...secretsOf(namedSecrets(target.inherited))]);
  return new SecretMask([...secretsOf(target.headers), ...secretsOfUrl(target.url)]);
}

/** A region or the name of a profile is passed on too, and would only make messages unreadable. */
function namedSecrets(inherited: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(inherited).filter(([name]) => isSecretName(name)));
}
