import { useEffect, useRef } from 'preact/hooks';
import type { ConnectClient, ConnectedClient, ConnectInfo } from '../../../../src/domain/console/connect.js';
import type { ConsoleSession } from '../../../../src/domain/console/sessions.js';
import { request } from '../../api/request.js';
import { logOut } from '../../api/session.js';
import { isOwner } from '../../api/session-state.js';
import { useResource } from '../../api/use-resource.js';
import { sessionLabel } from '../../lib/caller-label.js';
import { time } from '../../lib/format.js';
import { Foreign, foreignLabel } from '../../ui/foreign.js';
import { ActionButton, Badge, Command, Empty, Loading, PageHead, Panel, Problem } from '../../ui/parts.js';
import type { ScreenProps } from '../screen-props.js';

/** The command or file entry for each client, and whether it has codemode; and who is logged in to this console. */
export function ConnectScreen({ path: [part] }: ScreenProps) {
  const info = useResource(
    'connect',
    (signal) => request<ConnectInfo>('connect', { signal }),
    (event) => event.type === 'clients',
  );
  return (
    <>
      <PageHead title="Connect" lead="Connect a client: run one command, or edit one file." />
      <div class="stack">
        {info.error !== undefined && <Problem error={info.error} retry={info.reload} />}
        {info.data === undefined && info.error === undefined && <Loading what="clients" />}
        {info.data?.url !== undefined && (
          <Panel title="Over HTTP">
            <div class="stack tight">
              <p>
                Any MCP client can connect to this address. It sends the token that the command prints, as{' '}
                <code>Authorization: Bearer TOKEN</code>.
              </p>
              <Command text={info.data.url} />
              <Command text="codemode token" />
            </div>
          </Panel>
        )}
        {info.data?.clients.length === 0 && (
          <div class="panel">
            <Empty icon="connect" title="No client is known">
              <p>Any MCP client works with this command:</p>
              <Command text="codemode mcp" />
            </Empty>
          </div>
        )}
        <div class="clients">
          {[...(info.data?.clients ?? [])].sort(byUse).map((client) => (
            <Client key={client.id} client={client} />
          ))}
        </div>
        {info.data !== undefined && info.data.others.length > 0 && <Others clients={info.data.others} />}
        <Sessions isWanted={part === 'sessions' && info.data !== undefined} />
      </div>
    </>
  );
}

/** Clients in use come first, then those found on this machine. */
function byUse(left: ConnectClient, right: ConnectClient): number {
  const rank = ({ connections, isConfigured, isFound }: ConnectClient) =>
    connections.length > 0 ? 0 : isConfigured ? 1 : isFound ? 2 : 3;
  return rank(left) - rank(right);
}

function Client({ client }: { client: ConnectClient }) {
  return (
    <Panel title={<Foreign text={client.name} limit={80} />} actions={<ClientBadge client={client} />}>
      <div class="stack tight">
        {client.connections.map((each) => (
          <Connection key={`${each.name} ${each.transport}`} connection={each} />
        ))}
        {client.problem !== undefined && (
          <p class="note wait">
            <Foreign text={client.problem} limit={400} lines />
          </p>
        )}
        {client.command !== undefined && <Command text={client.command} />}
        {client.link !== undefined && isSafeLink(client.link) && (
          <a class="button" href={client.link}>
            Open in {foreignLabel(client.name, 40)}
          </a>
        )}
        {client.file !== undefined && (
          <details open={client.command === undefined}>
            <summary>
              Or by hand, in <code>{client.file.path}</code>
            </summary>
            <Command text={client.file.text} />
          </details>
        )}
      </div>
    </Panel>
  );
}

/** Distinguishes a client whose file starts codemode from one that has connected. */
function ClientBadge({ client: { connections, isConfigured, isFound } }: { client: ConnectClient }) {
  if (connections.some(({ isHostUp }) => isHostUp)) return <Badge tone="good">connected</Badge>;
  if (connections.length > 0) return <Badge tone="calm">has connected before</Badge>;
  if (isConfigured) return <Badge tone="wait">set up, has not connected yet</Badge>;
  return <Badge>{isFound ? 'on this machine, not set up' : 'not found on this machine'}</Badge>;
}

function Connection({ connection }: { connection: ConnectedClient }) {
  const { name, version, transport, lastAtMs } = connection;
  return (
    <p class="small">
      <span class="strong">
        <Foreign text={`${name} ${version}`.trim()} limit={80} />
      </span>{' '}
      <span class="muted">
        over {transport === 'stdio' ? 'stdio' : 'HTTP'}, last seen {time(lastAtMs)}
      </span>
    </p>
  );
}

function Others({ clients }: { clients: readonly ConnectedClient[] }) {
  return (
    <Panel title="Other clients that have connected">
      <div class="stack tight">
        {clients.map((each) => (
          <Connection key={`${each.name} ${each.transport}`} connection={each} />
        ))}
      </div>
    </Panel>
  );
}

/** Only links with the clients' own schemes, never scripts. */
function isSafeLink(link: string): boolean {
  return /^(https?|cursor|vscode|vscode-insiders|windsurf|zed):/i.test(link);
}

/** `Chrome 156 on Linux`: a user agent string is long, and names five other browsers. */
function browserWords(given: string): string {
  const [, name, version] =
    /\b(Edg|OPR|Firefox|HeadlessChrome|Chrome)\/(\d+)/.exec(given) ?? /\b(Version)\/(\d+).*Safari/.exec(given) ?? [];
  const system = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS', 'Linux'].find((each) => given.includes(each));
  if (name === undefined) return foreignLabel(given, 60);
  const browser = NAMES[name] ?? name;
  return `${browser} ${version}${system === undefined ? '' : ` on ${system}`}`;
}

const NAMES: Readonly<Record<string, string>> = {
  Edg: 'Edge',
  OPR: 'Opera',
  HeadlessChrome: 'Chrome',
  Version: 'Safari',
};

function Sessions({ isWanted }: { isWanted: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const sessions = useResource('sessions', async (signal) => {
    return (await request<{ sessions: readonly ConsoleSession[] }>('sessions', { signal })).sessions;
  });
  const revoke = async (id: string) => {
    await request('revokeSession', { path: { id } });
    sessions.reload();
  };
  // The sessions are below a long list of clients.
  const isShown = isWanted && sessions.data !== undefined;
  useEffect(() => {
    if (isShown) box.current?.scrollIntoView({ block: 'end' });
  }, [isShown]);
  return (
    <div ref={box}>
      <Panel
        title="Sessions of this console"
        flush
        actions={
          <ActionButton class="small" run={logOut}>
            Log out
          </ActionButton>
        }
      >
        {sessions.error !== undefined && <Problem error={sessions.error} retry={sessions.reload} />}
        <div class="table-wrap">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Role</th>
                <th scope="col">Browser</th>
                <th scope="col">Last used</th>
                <th scope="col">Expires</th>
                <th scope="col">
                  <span class="sr-only">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {sessions.data?.map((each) => (
                <tr key={each.id}>
                  <td class="nowrap" title={foreignLabel(each.name, 120)}>
                    <span class="strong">
                      <Foreign text={sessionLabel(each.name)} limit={60} />
                    </span>
                    {each.isThisOne && <span class="muted"> (this one)</span>}
                  </td>
                  <td>{each.role}</td>
                  <td class="small muted nowrap" title={foreignLabel(each.browser, 300)}>
                    {browserWords(each.browser)}
                  </td>
                  <td class="num nowrap">{time(each.lastUsedAtMs)}</td>
                  <td class="num nowrap">{time(each.expiresAtMs)}</td>
                  <td>
                    {!each.isThisOne && isOwner() && (
                      <ActionButton class="small danger" run={() => revoke(each.id)}>
                        Revoke
                      </ActionButton>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Panel>
    </div>
  );
}
