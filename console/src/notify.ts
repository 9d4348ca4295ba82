import { counted } from './lib/format.js';
import { createStore } from './lib/store.js';
import { say } from './ui/toasts.js';

const NAME = 'codemode.notify';
const CANNOT_NOTIFY =
  'This browser shows no notifications for pages, so it cannot notify you. The number beside Inbox still counts.';

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
  const notification = show(`${counted(added, 'call')} ${added === 1 ? 'waits' : 'wait'} for your decision.`);
  if (notification === undefined) return;
  notification.onclick = () => {
    focus();
    location.hash = '#/inbox';
    notification.close();
  };
}

/** Some browsers have `Notification` and let no page make one (Chrome on Android): then the choice is taken back, and said. */
function show(body: string): Notification | undefined {
  try {
    return new Notification('codemode', { body, tag: 'codemode-approvals' });
  } catch {
    choose(false);
    say(CANNOT_NOTIFY, 'bad');
    return undefined;
  }
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
