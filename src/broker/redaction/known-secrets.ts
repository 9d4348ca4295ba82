import { kindOf } from '../../domain/targets/targets.js';
import type { UpstreamDefinition } from '../../domain/upstream.js';
import { namedArguments, secretsIn } from '../../lib/secrets/secret-values.js';
import { connectionSecrets, heldSecretsIn } from './held-values.js';

/** The values in a server's settings that must be redacted. */
export function credentialsOf({ target }: UpstreamDefinition): string[] {
  const { settings, words, addresses, credentials } = kindOf(target).secretPlacesOf(target);
  return [
    ...settings.flatMap(heldIn),
    ...namedArguments(words).flatMap(([name, value]) => argumentSecrets(name, value)),
    ...addresses.flatMap((address) => secretsIn('', address)),
    ...credentials.flatMap(([name, value]) => secretsIn(name, value)),
  ].filter(isFirst);
}

function heldIn(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => heldSecretsIn(name, value));
}

/** Most words of a command line are not secrets and occur in results, so only a telling name or format makes one count. */
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
