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
  /** Absent: no script is a tool of its own. */
  readonly exposedScripts?: ExposedScripts;
  /** A client gives up near 60 s: one that did not ask for progress is answered before, and the run continues. */
  readonly answerWithinMs: number;
  /** Whether people are asked about calls through their clients. */
  readonly asksPeople: boolean;
  /** How long a first list of tools waits for servers that are starting, where the configuration says so. */
  readonly firstListingMs?: number;
  /** For people, on stderr. */
  readonly log: Log;
}

/** One client's way in. */
export interface ClientConnection extends Pick<AskedClient, 'clientKey' | 'person'> {
  readonly options: McpOptions;
  readonly listing: ClientListing;
  readonly session: Session;
  /** Aborted when the client has gone for good: runs that went on without an answer end too. */
  readonly gone: AbortSignal;
  /** Calls of the newer era that wait for what their client says to a question. */
  readonly questions: QuestionRequests;
  /** Called when the client is about to be told which tools there are. */
  readonly onListed?: () => void;
}

/** `bounds`: what the caller's token may reach. `sessionId`: where the caller has several sessions. */
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

/** How a caller of this profile is served, over whichever transport. */
export function sessionOptions(profile: Profile, codeMode: CodeModeSettings, caller: CallerId): SessionOptions {
  return {
    caller,
    profile: profile.name,
    presentation: profile.presentation,
    codeMode,
    // Also where code mode is off: a client may know the name from before.
    reservedNames: profile.tools.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
    maxResultBytes: profile.maxResultBytes,
    declarations: (server, view) => profile.declarations(server, view),
    ...omitUndefined({ checkedLibrary: profile.checkedLibrary, checksBodies: profile.checksBodies }),
  };
}
