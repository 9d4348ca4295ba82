import { useEffect, useRef, useState } from 'preact/hooks';
import { followEvents, link, onEvent, pendingApprovals } from './api/live.js';
import { messageOf } from './api/request.js';
import { openSession } from './api/session.js';
import { session } from './api/session-state.js';
import { GoTo } from './go-to.js';
import { Help } from './help.js';
import { keepFocus } from './lib/keep-focus.js';
import { listenForKeys, useKeys } from './lib/keys.js';
import { place } from './lib/router.js';
import { useStore } from './lib/store.js';
import { LogIn } from './login.js';
import { Navigation, SCREENS } from './navigation.js';
import { notifyOfApprovals } from './notify.js';
import { screenOf } from './screens/screens.js';
import { Loading } from './ui/parts.js';
import { Toasts } from './ui/toasts.js';

const RETRY_MS = 1_500;

export function App() {
  const state = useStore(session);
  const isOpen = state.state === 'open';
  const [problem, setProblem] = useState<string>();

  useEffect(() => {
    let timer = 0;
    const open = () =>
      openSession().then(
        () => setProblem(undefined),
        (error: unknown) => {
          setProblem(messageOf(error));
          timer = setTimeout(open, RETRY_MS);
        },
      );
    void open();
    const stopKeys = listenForKeys();
    const stopFocus = keepFocus();
    return () => {
      clearTimeout(timer);
      stopKeys();
      stopFocus();
    };
  }, []);

  useEffect(() => {
    if (!isOpen) return;
    const controller = new AbortController();
    if (state.state === 'open') pendingApprovals.set(state.info.pendingApprovals);
    void followEvents(controller.signal);
    const stop = onEvent((event) => {
      if (event.type === 'approvals') notifyOfApprovals(event.added.length);
    });
    return () => {
      controller.abort();
      stop();
    };
  }, [isOpen]);

  return (
    <>
      {state.state === 'open' && <Screens />}
      {state.state === 'none' && <LogIn message={state.message} />}
      {state.state === 'opening' && problem === undefined && (
        <main>
          <Loading what="the console" />
        </main>
      )}
      {state.state === 'opening' && problem !== undefined && <LogIn message={problem} />}
      <Toasts />
    </>
  );
}

function Screens() {
  const { path } = useStore(place);
  const name = SCREENS.find(({ id }) => id === path[0])?.id ?? 'inbox';
  const [isHelp, setHelp] = useState(false);
  const [isGoTo, setGoTo] = useState(false);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useKeys([
    { key: '?', label: 'Show or hide this help', run: () => setHelp(true) },
    { key: 'g', label: 'Go to a screen, a run or a tool', run: () => setGoTo(true) },
    {
      key: '/',
      label: 'Search on this screen, or go to another',
      run: () => {
        const field = document.querySelector<HTMLElement>('main [type=search]');
        if (field === null) setGoTo(true);
        else field.focus();
      },
    },
  ]);

  // On a new screen, its name becomes the page's title, and its content gets the focus.
  const key = path.slice(0, 2).join('/');
  useEffect(() => {
    const title = SCREENS.find(({ id }) => id === name)?.label ?? 'Inbox';
    document.title = `${title} · codemode`;
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
    scrollTo(0, 0);
  }, [key]);

  const Screen = screenOf(name);
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <Navigation current={name} onGoTo={() => setGoTo(true)} onHelp={() => setHelp(true)} />
      <div>
        <LinkBanner />
        <main class="main" ref={main} id="main" tabIndex={-1}>
          <Screen path={path.slice(1)} />
        </main>
      </div>
      {isHelp && <Help onClose={() => setHelp(false)} />}
      {isGoTo && <GoTo onClose={() => setGoTo(false)} />}
    </div>
  );
}

function LinkBanner() {
  const state = useStore(link);
  if (state !== 'lost') return null;
  return (
    <div class="banner" role="alert">
      <span class="spin" aria-hidden="true" />
      <span>
        Connection lost. Reconnecting; until then, what you see may be out of date. If the host has stopped, start it
        and open its new link: <code class="nowrap">codemode console</code>
      </span>
    </div>
  );
}
