import { useEffect, useRef } from 'preact/hooks';
import { link, pendingApprovals } from './api/live.js';
import { session } from './api/session-state.js';
import { sessionLabel } from './lib/caller-label.js';
import { count } from './lib/format.js';
import { linkTo } from './lib/router.js';
import { useStore } from './lib/store.js';
import { nextTheme, theme } from './lib/theme.js';
import { useMedia } from './lib/use-media.js';
import { Icon } from './ui/icons.js';
import { Logo } from './ui/logo.js';

export const SCREENS = [
  { id: 'inbox', label: 'Inbox' },
  { id: 'runs', label: 'Runs' },
  { id: 'playground', label: 'Playground' },
  { id: 'tools', label: 'Tools' },
  { id: 'policy', label: 'Policy' },
  { id: 'audit', label: 'Audit' },
  { id: 'usage', label: 'Usage' },
  { id: 'connect', label: 'Connect' },
] as const;

export type ScreenName = (typeof SCREENS)[number]['id'];

const LINK_WORDS = { live: 'Live', connecting: 'Connecting', lost: 'Not connected' } as const;
const LINK_TONES = { live: 'good', connecting: 'wait', lost: 'bad' } as const;

export function Navigation({
  current,
  onGoTo,
  onHelp,
}: {
  current: ScreenName;
  onGoTo: () => void;
  onHelp: () => void;
}) {
  const pending = useStore(pendingApprovals);
  const linkState = useStore(link);
  const chosen = useStore(theme);
  const now = useStore(session);
  const nav = useRef<HTMLElement>(null);
  // On a narrow screen the names are a scrolling row: keeps the current one in sight, also when the screen is turned.
  const isRow = useMedia('(max-width: 860px)');
  useEffect(() => {
    const box = nav.current;
    const shown = box?.querySelector<HTMLElement>('[aria-current]')?.parentElement;
    if (box != null && shown != null) box.scrollLeft = shown.offsetLeft - box.clientWidth / 2 + shown.clientWidth / 2;
  }, [current, isRow]);
  return (
    <header class="side">
      <a
        class="brand"
        href={linkTo(['inbox'])}
        aria-label="codemode"
        style={{ color: 'inherit', textDecoration: 'none' }}
      >
        <Logo />
        <span>codemode</span>
      </a>
      <nav class="nav" aria-label="Screens" ref={nav}>
        {SCREENS.map(({ id, label }) => (
          <div key={id} class="nav-item">
            <a
              href={linkTo([id])}
              aria-current={id === current ? 'page' : undefined}
              aria-describedby={id === 'inbox' && pending > 0 ? 'pending-count' : undefined}
            >
              <Icon name={id} />
              <span>{label}</span>
            </a>
            {id === 'inbox' && pending > 0 && (
              <span class="nav-count num" id="pending-count">
                {count(pending)}
                <span class="sr-only"> waiting</span>
              </span>
            )}
          </div>
        ))}
      </nav>
      <div class="side-foot">
        <span class="link-state">
          <span class={`dot ${LINK_TONES[linkState]}`} />
          <span>{LINK_WORDS[linkState]}</span>
        </span>
        {now.state === 'open' && (
          <a class="hint" href={linkTo(['connect', 'sessions'])} title={`${now.info.session.name}: show the sessions`}>
            {sessionLabel(now.info.session.name)}, {now.info.session.role}
            <br />
            codemode {now.info.version}
          </a>
        )}
        <div class="row tight">
          <button type="button" class="button icon quiet" aria-label="Go to" title="Go to (g)" onClick={onGoTo}>
            <NavIcon name="search" />
          </button>
          <button
            type="button"
            class="button icon quiet"
            aria-label={`Colours: ${chosen}. Change them`}
            title={`Colours: ${chosen}`}
            onClick={nextTheme}
          >
            <NavIcon name="moon" />
          </button>
          <button type="button" class="button icon quiet" aria-label="Help: keys" title="Help (?)" onClick={onHelp}>
            <NavIcon name="help" />
          </button>
        </div>
      </div>
    </header>
  );
}

function NavIcon({ name }: { name: 'moon' | 'help' | 'search' }) {
  return (
    <span style={{ width: '18px', height: '18px', display: 'inline-flex' }}>
      <Icon name={name} />
    </span>
  );
}
