import type { ScriptItem } from '../../../../src/domain/console/scripts.js';
import type { ServerView, ToolItem, ToolPage } from '../../../../src/domain/console/tools.js';
import { omitUndefined } from '../../../../src/lib/omit-undefined.js';
import { request } from '../../api/request.js';
import { usePages } from '../../api/use-pages.js';
import { useResource } from '../../api/use-resource.js';
import { counted } from '../../lib/format.js';
import { useKeys } from '../../lib/keys.js';
import { goTo, linkTo, place, setOptions } from '../../lib/router.js';
import { useStore } from '../../lib/store.js';
import { useLate } from '../../lib/use-late.js';
import { ForeignLine, foreignLabel } from '../../ui/foreign.js';
import { Command, DecisionBadge, Empty, Loading, PageHead, Problem } from '../../ui/parts.js';
import { VirtualList } from '../../ui/virtual-list.js';
import type { ScreenProps } from '../screen-props.js';
import { KeptPrograms } from './kept-programs.js';
import { ServerDetail } from './server-detail.js';
import { KEPT_PLACE, ServerList } from './server-list.js';
import { ToolDetailView } from './tool-detail.js';

const PAGE = 100;
const ROW = 60;
const TYPING_MS = 180;

/** Servers on the left, their tools next to them, one tool or server in full. */
export function ToolsScreen({ path: [server, tool] }: ScreenProps) {
  const { options } = useStore(place);
  const query = options.get('query') ?? '';
  const isKept = server === KEPT_PLACE;
  // A tool that was chosen from the list of all servers leaves that list, and its search, as they are.
  const isOfAll = server === undefined || options.get('list') === 'all';
  const scope = isOfAll ? { server: undefined, list: 'all' } : { server, list: undefined };
  const servers = useResource(
    'servers',
    async (signal) => (await request<{ servers: readonly ServerView[] }>('servers', { signal })).servers,
    (event) => event.type === 'servers',
  );
  const programs = useResource(
    'scripts',
    async (signal) => (await request<{ scripts: readonly ScriptItem[] }>('scripts', { signal })).scripts,
    (event) => event.type === 'runs',
  );
  const typed = useLate(query, TYPING_MS);
  const pages = usePages<ToolItem>(
    JSON.stringify([isKept, scope.server, typed]),
    async (cursor, signal) => {
      if (isKept) return { items: [] };
      const page = await request<ToolPage>('tools', {
        query: { server: scope.server, query: typed, limit: PAGE, cursor },
        signal,
      });
      return { items: page.tools, ...omitUndefined({ cursor: page.cursor }) };
    },
    (event) => event.type === 'servers',
  );
  const index = pages.items.findIndex((each) => each.serverId === server && each.toolName === tool);
  const move = (step: number) => {
    const next = pages.items[Math.min(pages.items.length - 1, Math.max(0, index + step))];
    if (next !== undefined) goTo(['tools', next.serverId, next.toolName], { query, list: scope.list });
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
  if (servers.data.length === 0 && !isKept) return <NoServers />;
  const shownServer = servers.data.find(({ id }) => id === server);
  const total = servers.data.reduce((sum, { toolCount }) => sum + toolCount, 0);
  return (
    <>
      <PageHead
        title="Tools"
        lead={`What programs can call: ${counted(total, 'tool')} from ${counted(servers.data.length, 'server')}.`}
      />
      <Problem error={servers.error} retry={servers.reload} />
      <div class={`tools ${server === undefined || (isKept && tool === undefined) ? '' : 'has-choice'}`}>
        <ServerList
          servers={servers.data}
          current={isOfAll ? undefined : server}
          query={query}
          programCount={programs.data?.length}
        />
        {isKept && <KeptPrograms programs={programs.data} error={programs.error} chosen={tool} />}
        {!isKept && (
          <section class="panel" aria-label="Tools">
            <div class="panel-head">
              <input
                class="input grow"
                type="search"
                placeholder={
                  scope.server === undefined
                    ? 'Search as agents do ( / )'
                    : `Search in ${foreignLabel(scope.server, 40)} ( / )`
                }
                aria-label="Search the tools"
                value={query}
                onInput={(event) =>
                  setOptions({ query: event.currentTarget.value, list: options.get('list') ?? undefined })
                }
              />
            </div>
            {pages.error !== undefined && <Problem error={pages.error} retry={pages.reload} />}
            {pages.items.length === 0 && !pages.isLoading && (
              <p class="panel-body muted">
                {query !== ''
                  ? 'No tool was found. Agents would find none either.'
                  : scope.server !== undefined && shownServer === undefined
                    ? `No server is called ${foreignLabel(scope.server, 80)}.`
                    : 'No tools now: the state of the server says why.'}
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
                return (
                  item !== undefined && (
                    <Row item={item} options={{ query, list: scope.list }} isCurrent={at === index} />
                  )
                );
              }}
            />
          </section>
        )}
        {!isKept && (
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
        )}
      </div>
    </>
  );
}

function Row({
  item,
  options,
  isCurrent,
}: {
  item: ToolItem;
  options: Parameters<typeof linkTo>[1];
  isCurrent: boolean;
}) {
  return (
    <a
      class={`tool-row ${isCurrent ? 'selected' : ''}`}
      aria-current={isCurrent ? 'true' : undefined}
      href={linkTo(['tools', item.serverId, item.toolName], options)}
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
      <PageHead title="Tools" lead="What programs can call." />
      <div class="panel">
        <Empty icon="tools" title="No servers are configured">
          <p>Import the servers of your other clients, or add one. Then start this console again.</p>
          <div class="stack tight commands">
            <Command text="codemode init" />
            <Command text="codemode add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes" />
          </div>
        </Empty>
      </div>
    </>
  );
}
