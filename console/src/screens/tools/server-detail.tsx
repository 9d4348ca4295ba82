import type { ServerLog, ServerView } from '../../../../src/domain/console/tools.js';
import { request } from '../../api/request.js';
import { isOwner } from '../../api/session-state.js';
import { useResource } from '../../api/use-resource.js';
import { sentence, time } from '../../lib/format.js';
import { Foreign } from '../../ui/foreign.js';
import { ActionButton, Badge, Facts, Panel } from '../../ui/parts.js';
import { say } from '../../ui/toasts.js';
import { LoginNote, useLogin } from './login.js';
import { toneOf } from './server-list.js';

/** The health of one server, its stderr, and the available actions. */
export function ServerDetail({ server, onChange }: { server: ServerView; onChange: () => void }) {
  const path = { id: server.id };
  const log = useResource(
    `${server.id} ${server.state}`,
    (signal) => request<ServerLog>('serverLog', { path, signal }),
    (event) => event.type === 'servers',
  );
  const login = useLogin(server.id, onChange);
  const reconnect = async () => {
    const { server: now } = await request<{ server: ServerView }>('reconnect', { path });
    onChange();
    log.reload();
    if (now.state === 'ready') say('Connected again.');
    else say(`Not connected: the server is ${now.state}.`, 'bad');
  };
  return (
    <>
      <Panel
        title={
          <>
            <Foreign text={server.id} limit={80} /> <Badge tone={toneOf(server.state)}>{server.state}</Badge>
          </>
        }
        actions={
          isOwner() && (
            <>
              {server.canLogIn && (
                <ActionButton class={server.needsLogin ? 'primary small' : 'small'} run={login.start}>
                  Log in
                </ActionButton>
              )}
              <ActionButton class="small" run={reconnect}>
                Reconnect
              </ActionButton>
            </>
          )
        }
      >
        <div class="stack">
          <LoginNote login={login} />
          {server.reason !== undefined && (
            <p class={`note ${toneOf(server.state) === 'bad' ? 'bad' : 'wait'}`}>
              <Foreign text={sentence(withoutLog(server.reason))} limit={800} lines />
            </p>
          )}
          <Facts
            facts={[
              [
                'Import',
                <code key="import">
                  <Foreign text={server.path} limit={120} />
                </code>,
              ],
              ['Transport', server.transport],
              server.name === undefined
                ? undefined
                : ['Name', <Foreign key="name" text={`${server.name} ${server.version ?? ''}`} limit={80} />],
              ['Tools', server.toolCount],
              server.sinceMs === undefined ? undefined : ['Since', time(server.sinceMs)],
              ['Connections lost', server.losses],
              ['Labels', server.labels.length === 0 ? 'none' : server.labels.join(', ')],
              ['Annotations', server.isTrusted ? 'trusted' : 'not trusted'],
            ]}
          />
          {server.warnings.length > 0 && (
            <ul class="stack tight">
              {server.warnings.map((warning) => (
                <li key={warning} class="small">
                  <Badge tone="wait">warning</Badge> <Foreign text={warning} limit={400} lines />
                </li>
              ))}
            </ul>
          )}
        </div>
      </Panel>
      <Panel title="Stderr">
        {log.data === undefined ? (
          <p class="muted">Loading</p>
        ) : (
          <div class="stack tight">
            {log.data.summary !== undefined && log.data.summary !== withoutLog(server.reason ?? '') && (
              <p class="note bad">
                <Foreign text={sentence(log.data.summary)} limit={400} lines />
              </p>
            )}
            {log.data.lines.length === 0 ? (
              <p class="muted">{log.data.note ?? 'It wrote nothing.'}</p>
            ) : (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
              <section class="block" aria-label="Stderr" tabIndex={0}>
                {log.data.lines.map((line, index) => (
                  <pre key={index}>
                    <Foreign text={line} limit={1_000} />
                  </pre>
                ))}
              </section>
            )}
          </div>
        )}
      </Panel>
    </>
  );
}

/** The reason without the log that it quotes: the log is shown below, line by line. */
function withoutLog(reason: string): string {
  return reason.split('; stderr:', 1)[0] ?? reason;
}
