import type { SessionInfo } from '../../../src/domain/console/sessions.js';
import { createStore } from '../lib/store.js';

export type SessionState =
  | { readonly state: 'opening' }
  /** `clockSkewMs`: the host's clock minus this machine's clock. */
  | { readonly state: 'open'; readonly info: SessionInfo; readonly clockSkewMs: number }
  | { readonly state: 'none'; readonly message: string };

export const session = createStore<SessionState>({ state: 'opening' });

export function endSession(message: string): void {
  session.set({ state: 'none', message });
}

/** The current time by the host's clock. */
export function hostNow(): number {
  const now = session.get();
  return Date.now() + (now.state === 'open' ? now.clockSkewMs : 0);
}

/** Whether this session may do everything, not only look and decide. */
export function isOwner(): boolean {
  const now = session.get();
  return now.state === 'open' && now.info.session.role === 'owner';
}
