import type { CapabilitySet } from '../../domain/capability.js';
import type { Log } from '../../domain/log.js';
import type { CallerId } from '../../domain/run.js';
import type { Host } from '../../host/host.js';
import type { Session, SessionOptions } from '../../host/session.js';
import type { CodeModeSettings } from '../../host/tools/tool-view.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { Profile } from '../../profiles/profile.js';
import type { AskedClient } from './asked-client.js';
import type { ClientListing } from './client-listing.js';
import type { ExposedScripts } from './exposed-scripts.js';
import type { QuestionRequests } from './question-requests.js';

/** Options that all MCP servers of this process share, for every client. */
export interface McpOptions {
  readonly host: Host;
  readonly profile: Profile;
  readonly codeMode: CodeModeSettings;
  readonly version: string;
  /** If absent, no script is exposed as a tool. */
  readonly exposedScripts?: ExposedScripts;
  /** Clients time out near 60 s. A client that did not ask for progress is answered earlier, and the run continues. */
  readonly answerWithinMs: number;
  /** Whether people are asked about calls through their clients. */
  readonly asksPeople: boolean;
  /** How long the first listing waits for servers that are starting, if configured. */
  readonly firstListingMs?: number;
  /** What the user types for `codemode` where a shell does not find that name. Absent over HTTP: that user is elsewhere. */
  readonly ownCommand?: string;
  /** For people, on stderr. */
  readonly log: Log;
}

/** The connection of one client. */
export interface ClientConnection extends Pick<AskedClient, 'clientKey' | 'person'> {
  readonly options: McpOptions;
  readonly listing: ClientListing;
  readonly session: Session;
  /** Aborted when the client is gone for good: runs that continued without a response are cancelled too. */
  readonly gone: AbortSignal;
  /** Calls of the newer era that wait for their client's answer to a question. */
  readonly questions: QuestionRequests;
  /** Called before the client is told the tools. */
  readonly onListed?: () => void;
}

/** `bounds`: what the caller's token may reach. `sessionId`: set if the caller has several sessions. */
export function openSession(
  { host, profile, codeMode }: McpOptions,
  caller: CallerId,
  { bounds, sessionId }: { readonly bounds?: CapabilitySet | undefined; readonly sessionId?: string } = {},
): Session {
  return host.openSession({
    ...sessionOptions(profile, codeMode, caller),
    ...omitUndefined({ bounds, sessionId }),
  });
}

/** Session options of a caller of this profile, for all transports. */
export function sessionOptions(profile: Profile, codeMode: CodeModeSettings, caller: CallerId): SessionOptions {
  return {
    caller,
    profile: profile.name,
    presentation: profile.presentation,
    codeMode,
    // Reserved even if code mode is off: a client may remember the name.
    reservedNames: profile.tools.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
    maxResultBytes: profile.maxResultBytes,
    declarations: (server, view) => profile.declarations(server, view),
    ...omitUndefined({ checkedLibrary: profile.checkedLibrary, checksBodies: profile.checksBodies }),
  };
}
