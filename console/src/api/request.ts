import {
  CONSOLE_API,
  CONSOLE_KEY_HEADER,
  CONSOLE_ROUTES,
  type ConsoleFailure,
} from '../../../src/domain/console/api.js';
import { omitUndefined } from '../../../src/lib/omit-undefined.js';
import { readKey } from './session-key.js';
import { endSession } from './session-state.js';

/** The host's refusal. If the host could not be reached, `code` is `unreachable`. */
export class RequestError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export type RouteName = keyof typeof CONSOLE_ROUTES;
type Query = Readonly<Record<string, string | number | undefined>>;

export interface RequestParts {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Query | object;
  /** A file is sent unchanged: it must be JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Sends a request to the host. Responses are trusted to have the contract's types: both sides come from one build. */
export async function request<T>(route: RouteName, parts: RequestParts = {}): Promise<T> {
  const response = await send(route, parts);
  return (await response.json()) as T;
}

/** The same for a response that is saved as a file. */
export async function download(route: RouteName, parts: RequestParts, fileName: string): Promise<void> {
  const response = await send(route, parts);
  saveFile(await response.blob(), fileName);
}

export function saveFile(content: Blob, fileName: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The response, if it is a success. */
export async function send(route: RouteName, { path = {}, query = {}, body, signal }: RequestParts): Promise<Response> {
  const [method = 'GET', template = ''] = CONSOLE_ROUTES[route].split(' ');
  const filled = template.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  const key = readKey();
  let response: Response;
  try {
    response = await fetch(`${CONSOLE_API}${filled}${search === '' ? '' : `?${search}`}`, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      headers: {
        accept: route === 'events' ? 'text/event-stream' : 'application/json',
        ...omitUndefined({ [CONSOLE_KEY_HEADER]: key }),
        ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      },
      ...(method === 'POST' ? { body: body instanceof Blob ? body : JSON.stringify(body ?? {}) } : {}),
      ...omitUndefined({ signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new RequestError('unreachable', 'The host does not answer. Start it again with: codemode console');
  }
  if (response.ok) return response;
  const failure = await readFailure(response);
  if (failure.code === 'no_session' && route !== 'login') endSession(failure.message);
  throw failure;
}

async function readFailure(response: Response): Promise<RequestError> {
  try {
    const { error } = (await response.json()) as ConsoleFailure;
    return new RequestError(error.code, error.message);
  } catch {
    return new RequestError('internal', `The host answered with HTTP status ${response.status}.`);
  }
}

/** The message to show for anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
