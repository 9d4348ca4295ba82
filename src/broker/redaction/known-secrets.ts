import type { OpenApiTarget, UpstreamDefinition } from '../../domain/upstream.js';
import { namedArguments, secretsIn } from '../../lib/secret-values.js';
import { connectionSecrets, heldSecretsIn } from './held-values.js';

/** The values of a server's settings that must not be seen again. */
export function credentialsOf({ target }: UpstreamDefinition): string[] {
  if (target.kind === 'stdio')
    return [
      ...heldIn(target.environment),
      ...heldIn(target.inherited ?? {}),
      ...namedArguments(target.arguments).flatMap(([name, value]) => argumentSecrets(name, value)),
    ].filter(isFirst);
  const held = heldIn(target.headers);
  if (target.kind === 'openapi')
    return [...held, ...secretsIn('', target.document), ...secretsIn('', target.baseUrl ?? '')].concat(
      secretsOfApi(target.auth),
    );
  return [...held, ...secretsIn('', target.url)];
}

function heldIn(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => heldSecretsIn(name, value));
}

/** Most words of a command line are no secrets and are in results, so here a name or a form has to say so. */
function argumentSecrets(name: string, value: string): string[] {
  const isNamed = /^(?:\w+[_-])?(?:pass|passphrase|pwd|creds?|mnemonic|seed|pin)$/i.test(name);
  return [
    ...secretsIn(isNamed ? 'password' : name, value),
    ...connectionSecrets(value),
    ...connectionSecrets(`${name}=${value}`),
  ].filter(isFirst);
}

function isFirst(value: string, index: number, all: readonly string[]): boolean {
  return all.indexOf(value) === index;
}

/** A password is found in the base64 that it is sent in too: the redactor knows the forms of what it is given. */
function secretsOfApi(auth: OpenApiTarget['auth']): string[] {
  switch (auth?.type) {
    case 'bearer':
      return secretsIn('token', auth.token);
    case 'basic':
      return secretsIn('password', auth.password);
    case 'apiKey':
      return secretsIn('key', auth.key);
    case undefined:
      return [];
  }
}
