import type { McpTarget } from '../../domain/upstream.js';
import { SecretMask, secretsOf, secretsOfUrl } from '../../lib/mask.js';

/** Hides the credentials of an upstream in whatever is said about it. */
export function maskFor(target: McpTarget): SecretMask {
  if (target.kind === 'stdio') return new SecretMask(secretsOf(target.environment));
  return new SecretMask([...secretsOf(target.headers), ...secretsOfUrl(target.url)]);
}
