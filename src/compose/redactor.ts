import { heldSecretsIn } from '../broker/redaction/held-values.js';
import { credentialsOf } from '../broker/redaction/known-secrets.js';
import { Redactor } from '../broker/redaction/redactor.js';
import type { LoadedConfig } from '../config/load.js';
import { secretsIn } from '../lib/secrets/secret-values.js';

/** A redactor that knows every credential in the configuration. */
export async function openRedactor({ config, upstreams, variables }: LoadedConfig): Promise<Redactor> {
  const { extra, ...options } = config.redaction;
  const clientSecrets = Object.values(config.mcpServers).flatMap(({ auth }) =>
    auth?.type === 'oauth2' && auth.clientSecret !== undefined ? secretsIn('clientSecret', auth.clientSecret) : [],
  );
  const { endpoint, headers } = config.telemetry.traces;
  const ofCollector = Object.entries({ ...headers, '': endpoint ?? '' }).flatMap(([name, value]) =>
    secretsIn(name, value),
  );
  const expressions =
    extra.length === 0 ? [] : (await import('../broker/redaction/expressions.js')).compileExpressions(extra);
  // Wherever the file references them: in arguments and addresses too.
  const referenced = [...variables].flatMap(([name, value]) => heldSecretsIn(name, value));
  return new Redactor([...upstreams.flatMap(credentialsOf), ...referenced, ...clientSecrets, ...ofCollector], {
    ...options,
    extra: expressions,
  });
}
