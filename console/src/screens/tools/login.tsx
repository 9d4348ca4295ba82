import { useEffect, useState } from 'preact/hooks';
import type { LoginLink, LoginState } from '../../../../src/domain/console/tools.js';
import { messageOf, request } from '../../api/request.js';
import { sentence } from '../../lib/format.js';
import { Foreign } from '../../ui/foreign.js';
import { say } from '../../ui/toasts.js';

/** The person logs in on another page; ours asks the host how it went. */
const ASK_EVERY_MS = 1_000;

export interface Login {
  /** Where the person logs in, while the host waits for it. */
  readonly page?: { readonly url: string; readonly issuer: string };
  readonly problem?: string;
  start(): Promise<void>;
}

export function useLogin(id: string, onDone: () => void): Login {
  const [now, setNow] = useState<{ id: string; page?: NonNullable<Login['page']>; problem?: string }>({ id });
  const shown = now.id === id ? now : { id };
  const isWaiting = shown.page !== undefined;
  useEffect(() => {
    if (!isWaiting) return;
    const controller = new AbortController();
    const ask = async () => {
      const { state, message } = await request<LoginState>('loginState', {
        path: { id },
        signal: controller.signal,
      }).catch((error: unknown): LoginState => ({ state: 'failed', message: messageOf(error) }));
      if (controller.signal.aborted || state === 'waiting') return;
      setNow({ id, ...(state === 'failed' ? { problem: message ?? 'The log-in failed.' } : {}) });
      if (state === 'done') say('You are logged in.');
      onDone();
    };
    const timer = setInterval(() => void ask(), ASK_EVERY_MS);
    return () => {
      controller.abort();
      clearInterval(timer);
    };
  }, [id, isWaiting]);
  const start = async () => {
    setNow({ id });
    const { url, issuer = '' } = await request<LoginLink>('serverLogin', { path: { id } });
    if (url === undefined) {
      say('You are logged in already.');
      onDone();
    } else if (/^https?:\/\//i.test(url)) {
      setNow({ id, page: { url, issuer } });
      // A browser may block the window, and does not say so: the note has the link too.
      open(url, '_blank', 'noopener,noreferrer');
    } else say('The server gave an address that is not a web page.', 'bad');
  };
  return { ...shown, start };
}

export function LoginNote({ login: { page, problem } }: { login: Login }) {
  if (problem !== undefined)
    return (
      <p class="note bad" role="alert">
        You are not logged in. <Foreign text={sentence(problem)} limit={600} lines />
      </p>
    );
  if (page === undefined) return null;
  return (
    <p class="note wait" role="status">
      Log in at <Foreign text={page.issuer} limit={200} />, in the window that opened.{' '}
      <a href={page.url} target="_blank" rel="noopener noreferrer">
        Open the log-in page
      </a>
    </p>
  );
}
