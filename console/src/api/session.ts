import { LINK_PARAMETER } from '../../../src/domain/console/api.js';
import type { LoggedIn, SessionInfo } from '../../../src/domain/console/sessions.js';
import { messageOf, RequestError, request } from './request.js';
import { writeKey } from './session-key.js';
import { endSession, session } from './session-state.js';

/** Exchanges the link in the address, if there is one, and removes it from the address and the history. */
export async function openSession(): Promise<void> {
  const link = new URLSearchParams(location.hash.slice(1)).get(LINK_PARAMETER);
  try {
    if (link !== null) {
      history.replaceState(null, '', `${location.pathname}#/inbox`);
      dispatchEvent(new HashChangeEvent('hashchange'));
      const { key } = await request<LoggedIn>('login', { body: { link } });
      writeKey(key);
    }
    await loadSession();
  } catch (error) {
    if (link === null && error instanceof RequestError && error.code === 'unreachable') throw error;
    session.set({ state: 'none', message: messageOf(error) });
  }
}

export async function loadSession(): Promise<SessionInfo> {
  const info = await request<SessionInfo>('session');
  session.set((before) => {
    // A page of an older build would misread the responses of a newer host.
    if (before.state === 'open' && before.info.build !== info.build) location.reload();
    return { state: 'open', info, clockSkewMs: info.nowMs - Date.now() };
  });
  return info;
}

export async function logOut(): Promise<void> {
  await request('logout');
  writeKey(undefined);
  endSession('You are logged out.');
}
