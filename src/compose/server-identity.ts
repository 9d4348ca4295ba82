import { createHash } from 'node:crypto';
import { modulePaths } from '../catalog/names.js';
import { kindOf, type UpstreamTarget } from '../domain/targets/targets.js';
import { isSecretName } from '../lib/secrets/mask.js';

/**
 * What a server is, whatever key it is opened with: a new token is no other server, another database is. Values that the
 * configuration sets for a program count as digests, but for those under a name that says they are secret.
 */
export function identityOf(target: UpstreamTarget): unknown {
  const plain = withoutSecrets(target);
  const environment = Object.entries(kindOf(target).settingsOf?.(target) ?? {})
    .filter(([name]) => !isSecretName(name))
    .map(([name, value]) => [name, fingerprint(value)] as const)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  // A server without any is what it was before these counted.
  return environment.length === 0 ? plain : [plain, environment];
}

/** The same as it was before the environment counted: runs that were suspended then carry its digest. */
export function withoutSecrets(target: UpstreamTarget): unknown {
  return [target.kind, ...kindOf(target).identityOf(target)];
}

/**
 * Digests of the profile and of each server: a run continues where all of those it began with are still the same. With
 * the path under which programs import it, so that a server that is added never takes the place of another.
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
