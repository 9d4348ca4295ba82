import type { HostSettings } from './composed.js';

/** `--profile`. The file that mcpproxy keeps in the home folder is the one that the contract `code_execution` names. */
export function profileSettings(profile: string | undefined): Pick<HostSettings, 'profile' | 'takesProxyFile'> {
  if (profile === undefined) return {};
  return { profile, ...(profile === 'code_execution' ? { takesProxyFile: true } : {}) };
}
