import { createHash } from 'node:crypto';
import { modulePaths } from '../catalog/names.js';
import { kindOf, type UpstreamTarget } from '../domain/targets/targets.js';
import { isSecretName } from '../lib/secrets/mask.js';

/**
 * Identity of a server, independent of its credentials: a new token leaves it the same, another database changes it. Values that
 * the configuration sets for a program count as digests, except those whose name marks them as secret.
 */
export function identityOf(target: UpstreamTarget): unknown {
  const plain = withoutSecrets(target);
  const environment = Object.entries(kindOf(target).settingsOf?.(target) ?? {})
    .filter(([name]) => !isSecretName(name))
    .map(([name, value]) => [name, fingerprint(value)] as const)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  // A server without such values keeps the identity it had before the environment counted.
  return environment.length === 0 ? plain : [plain, environment];
}

/** The identity as it was before the environment counted. Runs that were suspended at that time carry its digest. */
export function withoutSecrets(target: UpstreamTarget): unknown {
  return [target.kind, ...kindOf(target).identityOf(target)];
}

/**
 * Digests of the profile and of each server. A run resumes only if all digests it started with are unchanged. Each digest
 * includes the path under which programs import the server, so a server that is added never takes another's place.
 */
export function settingOf(profile: string, identities: readonly (readonly [id: string, identity: string])[]): string {
  const paths = modulePaths(identities.map(([id]) => id));
  const parts = [[profile], ...identities.map(([id, identity]) => [profile, id, paths.get(id), identity])];
  return parts
    .map((part) => fingerprint(part).slice(0, SETTING_PART_CHARACTERS))
    .sort()
    .join(' ');
}

const SETTING_PART_CHARACTERS = 16;

export function fingerprint(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value ?? null))
    .digest('hex');
}
