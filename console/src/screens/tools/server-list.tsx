import type { ServerView } from '../../../../src/domain/console/tools.js';
import { counted } from '../../lib/format.js';
import { linkTo } from '../../lib/router.js';
import { ForeignLine } from '../../ui/foreign.js';

/** The place of kept programs: no server can have this name. */
export const KEPT_PLACE = '@scripts';

const TONES: Readonly<Record<ServerView['state'], string>> = {
  idle: 'calm',
  connecting: 'live',
  ready: 'good',
  degraded: 'wait',
  failed: 'bad',
  quarantined: 'bad',
  closed: 'calm',
  disabled: 'bad',
};

export function toneOf(state: ServerView['state']): 'good' | 'bad' | 'wait' | 'live' | 'calm' {
  return TONES[state] as 'good' | 'bad' | 'wait' | 'live' | 'calm';
}

export function ServerList({
  servers,
  current,
  query,
  programCount,
}: {
  servers: readonly ServerView[];
  current: string | undefined;
  query: string;
  programCount: number | undefined;
}) {
  return (
    <nav class="panel server-list" aria-label="Servers">
      <a href={linkTo(['tools'], { query })} aria-current={current === undefined ? 'true' : undefined}>
        <span class="strong">All servers</span>
      </a>
      {servers.map((server) => (
        <a
          key={server.id}
          href={linkTo(['tools', server.id], { query })}
          aria-current={server.id === current ? 'true' : undefined}
        >
          <span class="row tight">
            <span class={`dot ${toneOf(server.state)}`} />
            <span class="strong clip">
              <ForeignLine text={server.id} limit={60} />
            </span>
          </span>
          <span class="small muted">
            {server.needsLogin ? 'needs a log-in' : server.state} · {counted(server.toolCount, 'tool')}
          </span>
        </a>
      ))}
      <a
        class="kept-link"
        href={linkTo(['tools', KEPT_PLACE])}
        aria-current={current === KEPT_PLACE ? 'true' : undefined}
      >
        <span class="strong">Kept programs</span>
        <span class="small muted">
          {programCount === undefined ? ' ' : programCount === 0 ? 'none yet' : counted(programCount, 'program')}
        </span>
      </a>
    </nav>
  );
}
