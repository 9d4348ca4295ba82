import { needsOf } from '../../domain/profile-name.js';
import type { HostSettings } from './composed.js';

/** `--profile`. Some contracts use mcpproxy's file in the home folder. */
export function profileSettings(profile: string | undefined): Pick<HostSettings, 'profile' | 'takesProxyFile'> {
  if (profile === undefined) return {};
  return { profile, ...(needsOf(profile).takesProxyFile === true ? { takesProxyFile: true } : {}) };
}
