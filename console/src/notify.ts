import { counted } from './lib/format.js';
import { createStore } from './lib/store.js';

const NAME = 'codemode.notify';

/** Notifications of the browser: only by the person's choice, and only while the page is not looked at. */
export const isNotifying = createStore(readChoice());

export async function toggleNotifications(): Promise<'on' | 'off' | 'refused'> {
  if (isNotifying.get()) {
    choose(false);
    return 'off';
  }
  if (typeof Notification === 'undefined') return 'refused';
  const answer =
    Notification.permission === 'default' ? await Notification.requestPermission() : Notification.permission;
  choose(answer === 'granted');
  return answer === 'granted' ? 'on' : 'refused';
}

/** Says how many, and nothing of what: a notification is seen by anyone near the screen. */
export function notifyOfApprovals(added: number): void {
  if (added === 0 || !isNotifying.get() || document.visibilityState === 'visible') return;
  const notification = new Notification('codemode', {
    body: `${counted(added, 'call')} ${added === 1 ? 'waits' : 'wait'} for your decision.`,
    tag: 'codemode-approvals',
  });
  notification.onclick = () => {
    focus();
    location.hash = '#/inbox';
    notification.close();
  };
}

function choose(isOn: boolean): void {
  isNotifying.set(isOn);
  try {
    localStorage.setItem(NAME, isOn ? 'on' : 'off');
  } catch {
    // Then the choice lasts as long as the page.
  }
}

function readChoice(): boolean {
  try {
    return localStorage.getItem(NAME) === 'on' && Notification.permission === 'granted';
  } catch {
    return false;
  }
}
