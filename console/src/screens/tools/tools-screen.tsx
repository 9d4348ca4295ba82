import { useEffect, useState } from 'preact/hooks';
import type { ServerView, ToolItem, ToolPage } from '../../../../src/domain/console/tools.js';
import { omitUndefined } from '../../../../src/lib/omit-undefined.js';
import { request } from '../../api/request.js';
import { usePages } from '../../api/use-pages.js';
import { useResource } from '../../api/use-resource.js';
import { counted } from '../../lib/format.js';
import { useKeys } from '../../lib/keys.js';
import { goTo, linkTo, place, setOptions } from '../../lib/router.js';
import { useStore } from '../../lib/store.js';
import { ForeignLine } from '../../ui/foreign.js';
import { Command, DecisionBadge, Empty, Loading, PageHead, Problem } from '../../ui/parts.js';
import { VirtualList } from '../../ui/virtual-list.js';
import type { ScreenProps } from '../screen-props.js';
import { ServerDetail } from './server-detail.js';
import { ServerList } from './server-list.js';
import { ToolDetailView } from './tool-detail.js';

const PAGE = 100;
const ROW = 60;
const TYPING_MS = 180;

/** Servers on the left, their tools beside them, one tool or server in full. */
export function ToolsScreen({ path: [server, tool] }: ScreenProps) {
  const { options } = useStore(place);
  const query = options.get('query') ?? '';
  const servers = useResource(
    'servers',
    async (signal) => (await request<{ servers: readonly ServerView[] }>('servers', { signal })).servers,
    (event) => event.type === 'servers',
  );
  const typed = useLate(query, TYPING_MS);
  const pages = usePages<ToolItem>(
    JSON.stringify([server, typed]),
    async (cursor, signal) => {
      const page = await request<ToolPage>('tools', { query: { server, query: typed, limit: PAGE, cursor }, signal });
      return { items: page.tools, ...omitUndefined({ cursor: page.cursor }) };
    },
    (event) => event.type === 'servers',
  );
  const index = pages.items.findIndex((each) => each.serverId === server && each.toolName === tool);
  const move = (step: number) => {
    const next = pages.items[Math.min(pages.items.length - 1, Math.max(0, index + step))];
    if (next !== undefined) goTo(['tools', next.serverId, next.toolName], { query });
  };
  useKeys([
    { key: 'j', label: 'Next tool', run: () => move(1) },
    { key: 'k', label: 'Previous tool', run: () => move(-1) },
  ]);

  if (servers.data === undefined) {
    return servers.error === undefined ? (
      <Loading what="servers" />
    ) : (
      <Problem error={servers.error} retry={servers.reload} />
    );
  }
  if (servers.data.length === 0) return <NoServers />;
  const shownServer = servers.data.find(({ id }) => id === server);
  const total = servers.data.reduce((sum, { toolCount }) => sum + toolCount, 0);
  return (
    <>
      <PageHead
        title="Tools"
        lead={`${counted(total, 'tool')} of ${counted(servers.data.length, 'server')}: what programs can call.`}
      />
      <Problem error={servers.error} retry={servers.reload} />
      <div class={`tools ${server === undefined ? '' : 'has-choice'}`}>
        <ServerList servers={servers.data} current={server} query={query} />
        <section class="panel" aria-label="Tools">
          <div class="panel-head">
            <input
              class="input grow"
              type="search"
              placeholder="Search as agents do ( / )"
              aria-label="Search the tools"
              value={query}
              onInput={(event) => setOptions({ query: event.currentTarget.value })}
            />
          </div>
          {pages.error !== undefined && <Problem error={pages.error} retry={pages.reload} />}
          {pages.items.length === 0 && !pages.isLoading && (
            <p class="panel-body muted">
              {query === ''
                ? 'This server has no tools now. Its state says why.'
                : 'No tool was found. Agents would find none either.'}
            </p>
          )}
          <VirtualList
            label="Tools"
            count={pages.items.length}
            rowHeight={ROW}
            height={`min(${pages.items.length * ROW}px, var(--list-height))`}
            active={index}
            onNearEnd={pages.loadMore}
            row={(at) => {
              const item = pages.items[at];
              return item !== undefined && <Row item={item} query={query} isCurrent={at === index} />;
            }}
          />
        </section>
        <div class="stack">
          <a class="button small back" href={linkTo(['tools'], { query })}>
            Back to all tools
          </a>
          {shownServer !== undefined && tool === undefined && (
            <ServerDetail key={shownServer.id} server={shownServer} onChange={servers.reload} />
          )}
          {server !== undefined && tool !== undefined && (
            <ToolDetailView key={`${server} ${tool}`} server={server} tool={tool} />
          )}
          {server === undefined && (
            <div class="panel">
              <Empty icon="tools" title="Choose a tool or a server">
                <p>A tool shows its declaration, its schema, what policy says, and a form to try it.</p>
              </Empty>
            </div>
          )}
        </div>
      </div>
    </>
  );
}

function Row({ item, query, isCurrent }: { item: ToolItem; query: string; isCurrent: boolean }) {
  return (
    <a
      class={`tool-row ${isCurrent ? 'selected' : ''}`}
      aria-current={isCurrent ? 'true' : undefined}
      href={linkTo(['tools', item.serverId, item.toolName], { query })}
    >
      <span class="row tight spread">
        <span class="mono strong clip">
          <ForeignLine text={item.toolName} limit={100} />
        </span>
        <span class="row tight">
          {item.score !== undefined && <span class="num small muted">score {item.score.toFixed(2)}</span>}
          <DecisionBadge decision={item.decision} />
        </span>
      </span>
      <span class="small muted clip">
        <ForeignLine text={`${item.serverId} · ${item.description}`} limit={160} />
      </span>
    </a>
  );
}

function NoServers() {
  return (
    <>
      <PageHead title="Tools" />
      <div class="panel">
        <Empty icon="tools" title="No servers are configured">
          <p>Add one, or import those that your other clients have:</p>
          <Command text="codemode add" />
          <Command text="codemode init" />
        </Empty>
      </div>
    </>
  );
}

/** The value once nobody has changed it for a moment. */
function useLate<T>(value: T, ms: number): T {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), ms);
    return () => clearTimeout(timer);
  }, [value]);
  return late;
}
