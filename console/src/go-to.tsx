import { useEffect, useRef, useState } from 'preact/hooks';
import type { RunPage } from '../../src/domain/console/runs.js';
import type { ToolPage } from '../../src/domain/console/tools.js';
import { request } from './api/request.js';
import { counted } from './lib/format.js';
import { linkTo } from './lib/router.js';
import { useLate } from './lib/use-late.js';
import { SCREENS } from './navigation.js';
import { Dialog } from './ui/dialog.js';
import { ForeignLine, foreignLabel } from './ui/foreign.js';

interface Target {
  readonly href: string;
  readonly title: string;
  readonly kind: string;
}

const TYPING_MS = 120;
const MAX_OF_A_KIND = 6;

/** Goes to a screen, a run or a tool by a part of its name, from any screen. */
export function GoTo({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly Target[]>([]);
  const [active, setActive] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const wanted = text.trim().toLowerCase();
  const asked = useLate(wanted, TYPING_MS);
  useEffect(() => {
    if (asked === '') {
      setFound([]);
      return;
    }
    const controller = new AbortController();
    void search(asked, controller.signal).then((targets) => {
      if (!controller.signal.aborted) setFound(targets);
    });
    return () => controller.abort();
  }, [asked]);

  const screens = SCREENS.filter(({ label }) => label.toLowerCase().includes(wanted)).map(({ id, label }) => ({
    ...{ href: linkTo([id]), title: label, kind: 'screen' },
  }));
  const targets: readonly Target[] = [...screens, ...found];
  const at = Math.min(active, targets.length - 1);
  const move = (step: number) => {
    const next = Math.max(0, Math.min(targets.length - 1, at + step));
    setActive(next);
    list.current?.children[next]?.scrollIntoView({ block: 'nearest' });
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) move(step);
    else if (event.key === 'Enter') {
      const target = targets[at];
      if (target === undefined) return;
      location.hash = target.href;
      onClose();
    } else if (event.key === 'Escape') onClose();
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        class="input go-to"
        type="search"
        aria-label="A screen, a run or a tool"
        placeholder="A screen, a run or a tool"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKey}
      />
      <p class="sr-only" role="status">
        {counted(targets.length, 'place')}
        {targets[at] !== undefined && `. Enter opens ${foreignLabel(targets[at].title, 80)}, ${targets[at].kind}`}
      </p>
      <ul class="go-to-list" aria-label="Where to go" ref={list}>
        {targets.map(({ href, title, kind }, index) => (
          <li key={href}>
            <a href={href} class={index === at ? 'active' : ''} onClick={onClose}>
              <span class="clip">
                <ForeignLine text={title} limit={120} />
              </span>
              <span class="small muted nowrap">{kind}</span>
            </a>
          </li>
        ))}
      </ul>
      {targets.length === 0 && <p class="muted">Nothing has this name.</p>}
    </Dialog>
  );
}

/** Searches that fail are left out: the screens are always listed. */
async function search(text: string, signal: AbortSignal): Promise<readonly Target[]> {
  const [runs, tools] = await Promise.all([
    request<RunPage>('runs', { query: { text, limit: MAX_OF_A_KIND }, signal }).catch(() => undefined),
    request<ToolPage>('tools', { query: { query: text, limit: MAX_OF_A_KIND }, signal }).catch(() => undefined),
  ]);
  return [
    ...(tools?.tools ?? []).map(({ serverId, toolName }) => ({
      ...{ href: linkTo(['tools', serverId, toolName]), title: `${serverId}/${toolName}`, kind: 'tool' },
    })),
    ...(runs?.runs ?? []).slice(0, MAX_OF_A_KIND).map(({ runId, title, state }) => ({
      ...{ href: linkTo(['runs', runId]), title: title ?? runId, kind: `run, ${state}` },
    })),
  ];
}
