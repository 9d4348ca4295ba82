import { counted } from './lib/format.js';
import { createStore } from './lib/store.js';

const NAME = 'codemode.notify';

/** Browser notifications: only if the person chose them, and only while he is in another window. */
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

/** Shows only the number of approvals, not their content: anyone near the screen can see a notification. */
export function notifyOfApprovals(added: number): void {
  // A page beside the window that a person works in is visible, and he does not look at it.
  const isLookedAt = document.visibilityState === 'visible' && document.hasFocus();
  if (added === 0 || !isNotifying.get() || isLookedAt) return;
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
    // Storage is disabled: the choice lasts as long as the page.
  }
}

function readChoice(): boolean {
  try {
    return localStorage.getItem(NAME) === 'on' && Notification.permission === 'granted';
  } catch {
    return false;
  }
}
