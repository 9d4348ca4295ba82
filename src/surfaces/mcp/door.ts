import type { CapabilitySet } from '../../domain/capability.js';
import type { CallerId } from '../../domain/execution.js';
import type { Log } from '../../domain/log.js';
import type { Host } from '../../host/host.js';
import type { Session, SessionOptions } from '../../host/session.js';
import type { CodeModeSettings } from '../../host/tool-view.js';
import type { Profile } from '../../profiles/profile.js';
import type { ClientListing } from './client-listing.js';
import { Listing } from './listing.js';
import type { QuestionRounds } from './question-rounds.js';

/** What every MCP server of this process has in common, whoever is behind it. */
export interface McpOptions {
  readonly host: Host;
  readonly profile: Profile;
  readonly codeMode: CodeModeSettings;
  readonly version: string;
  /** A client gives up near 60 s: one that did not ask for progress is answered before, and the run goes on. */
  readonly answerWithinMs: number;
  /** Whether the user is asked through the client where it can ask. */
  readonly asksPeople: boolean;
  /** How long a first list of tools waits for servers that are starting, where the configuration says so. */
  readonly firstListingMs?: number;
  /** For people, on standard error. */
  readonly log: Log;
}

/** What clients see, the same for all of them: one per surface. Where there is one client only, it is the reader. */
export function openListing(options: McpOptions, reader = openSession(options, 'listing' as CallerId)): Listing {
  return new Listing(reader, options);
}

/** One client's way in. */
export interface Door {
  readonly options: McpOptions;
  readonly listing: ClientListing;
  readonly session: Session;
  /** Aborted when the client has gone for good: runs that went on without an answer end too. */
  readonly gone: AbortSignal;
  /** Whether everything that comes in here comes from one client. */
  readonly hasOneClient: boolean;
  /** Calls of the newer era that wait for what their client says to a server's question. */
  readonly rounds: QuestionRounds;
  /** Called when the client is about to be told which tools there are. */
  readonly onListed?: () => void;
}

/** `bounds`: what the token of whoever speaks may reach. */
export function openSession(
  { host, profile, codeMode }: McpOptions,
  caller: CallerId,
  bounds?: CapabilitySet | undefined,
): Session {
  const options = sessionOptions(profile, codeMode, caller);
  return host.openSession(bounds === undefined ? options : { ...options, bounds });
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
    // What belongs to a session of the protocol ends with it.
    isTransient: caller.startsWith(SESSION),
  };
}

const SESSION = 'session ';

/** Who speaks in one session of the protocol over HTTP. */
export function sessionCaller(id: string): CallerId {
  return `${SESSION}${id}` as CallerId;
}
