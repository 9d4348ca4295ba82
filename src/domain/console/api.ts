/**
 * The console's API: JSON under `/console/api`, and one stream of server-sent events. Every string that came from a program,
 * a server or a tool is data: it may hold HTML, terminal codes, bidirectional marks or megabytes, and is shown as text.
 * Where `isCut` (or `isAnswerCut`) is true, the value beside it is a string: the beginning of its JSON.
 *
 * Log-in: `codemode console` prints `http://HOST:PORT/#link=SECRET`. The page posts the secret to `login` and removes it from
 * its address. The answer sets an HttpOnly cookie and gives a `key`. The page keeps the key in `localStorage` and sends it as
 * `x-codemode-console` with every request, also with the stream: cookies are shared by all ports of a machine, the key is
 * not. So the stream is read by `fetch`, not by `EventSource`. Requests with a body have `content-type: application/json`.
 */
export const CONSOLE_API = '/console/api';
export const CONSOLE_KEY_HEADER = 'x-codemode-console';
/** Of an exported run that is opened. */
export const MAX_OPENED_BYTES = 24 * 1024 * 1024;
/** In the fragment of the link. */
export const LINK_PARAMETER = 'link';

/**
 * A link to the console. Its path is unique, so that the browser does not open a page that another program on the same port
 * told it to cache.
 */
export function consoleLink(url: string, secret: string): string {
  return `${url}/?at=${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}#${LINK_PARAMETER}=${secret}`;
}

/**
 * Method and path of every route. `:name` is a path segment (`encodeURIComponent`). The comments name the types: query or body,
 * then answer. A failure of any route is an HTTP status of 400 or more with a `ConsoleFailure`.
 */
export const CONSOLE_ROUTES = {
  /** `LoginRequest` -> `LoggedIn`. The only route without a session. */
  login: 'POST /login',
  /** -> `SessionInfo`. */
  session: 'GET /session',
  /** -> `{}`. Ends this session. */
  logout: 'POST /logout',
  /** -> `{ sessions: ConsoleSession[] }`. */
  sessions: 'GET /sessions',
  /** -> `{}`. Owner only, except for one's own session. */
  revokeSession: 'POST /sessions/:id/revoke',
  /** Server-sent events: `ConsoleEvent`. Header `last-event-id` continues a stream. */
  events: 'GET /events',

  /** `ApprovalQuery` -> `ApprovalPage`. */
  approvals: 'GET /approvals',
  /** -> `ApprovalView`, with whole arguments. */
  approval: 'GET /approvals/:id',
  /** `DecideRequest` -> `DecideAnswer`. */
  decide: 'POST /approvals/decide',
  /** -> `{ grants: GrantView[] }`. */
  grants: 'GET /grants',
  /** -> `{}`. `:id` is the id of the grant. Owner only. */
  revokeGrant: 'POST /grants/:id/revoke',

  /** `RunQuery` -> `RunPage`. */
  runs: 'GET /runs',
  /** -> `RunDetail`. */
  run: 'GET /runs/:id',
  /** `{ from?: number; limit?: number }` -> `DeliveryPage`. */
  deliveries: 'GET /runs/:id/deliveries',
  /** -> `{ body: string; isCut: boolean }`: one whole delivery, up to a bound. */
  delivery: 'GET /runs/:id/deliveries/:position',
  /** -> `CallArguments`. */
  callArguments: 'GET /runs/:id/calls/:number',
  /** -> `ReplayedRun`: runs the program again offline, answered from its journal. Finds the lines of its calls and all logs. Owner only. */
  replay: 'POST /runs/:id/replay',
  /** -> `RunDetail` after the change. */
  cancelRun: 'POST /runs/:id/cancel',
  /** -> `RunDetail` after the change. */
  resumeRun: 'POST /runs/:id/resume',
  /** -> `{ source, profile, language }` of the program, for the playground. The person runs it from there. */
  runAgain: 'GET /runs/:id/program',
  /** -> `ExportedRun`, as a download. */
  exportRun: 'GET /runs/:id/export',
  /** `ExportedRun` (the content of a file, at most `MAX_OPENED_BYTES`) -> `OpenedRun`. Nothing is stored or run. */
  openRun: 'POST /runs/open',

  /** `KeepRequest` -> `KeepPreview`. Stores nothing. Owner only. */
  previewKeep: 'POST /runs/:id/keep/preview',
  /** `KeepRequest & { replaces?: boolean }` -> `KeptProgram`. Owner only. */
  keepRun: 'POST /runs/:id/keep',
  /** -> `UndoPlan`. Changes nothing. Owner only. */
  undoPlan: 'GET /runs/:id/undo',
  /** `{ calls: number[] }`, calls that were shown as ready -> `UndoAnswer`. Owner only. */
  undoRun: 'POST /runs/:id/undo',
  /** -> `{ scripts: ScriptItem[] }`. */
  scripts: 'GET /scripts',
  /** -> `ScriptDetail`. */
  script: 'GET /scripts/:name',

  /** -> `PlaygroundInfo`. */
  playground: 'GET /playground',
  /** `PlaygroundRequest` -> `PlaygroundAnswer`. Owner only. */
  runProgram: 'POST /playground/run',
  /** `{ source: string; profile: ProfileName }` -> `TypeVerdict`. Nothing is run. Owner only. */
  checkProgram: 'POST /playground/check',
  /** `{ profile: ProfileName }` -> `PlaygroundDeclarations`. */
  declarations: 'GET /playground/declarations',

  /** -> `{ servers: ServerView[] }`. */
  servers: 'GET /servers',
  /** -> `ServerLog`. */
  serverLog: 'GET /servers/:id/log',
  /** -> `{ server: ServerView }`, after reconnecting. Owner only. */
  reconnect: 'POST /servers/:id/reconnect',
  /** -> `LoginLink`. Owner only. */
  serverLogin: 'POST /servers/:id/login',
  /** -> `LoginState` of the last log-in that was started here. Owner only. */
  loginState: 'GET /servers/:id/login',
  /** `ToolQuery` -> `ToolPage`. */
  tools: 'GET /tools',
  /** -> `ToolDetail`. `:server` is the server's id, `:tool` the tool's own name. */
  tool: 'GET /tools/:server/:tool',
  /** `{ arguments: JsonObject }` -> `TryAnswer`. Subject to the same policy, limits and audit log as an agent's call. Owner only. */
  tryTool: 'POST /tools/:server/:tool/try',

  /** -> `PolicyView`. */
  policy: 'GET /policy',
  /** `DraftRequest` -> `DraftReport`. Changes nothing. */
  tryPolicy: 'POST /policy/try',
  /** `DraftRequest` -> `PolicyDiff`. Changes nothing. */
  policyDiff: 'POST /policy/diff',
  /** `SaveRequest` -> `PolicySaved`. Owner only. */
  savePolicy: 'POST /policy/save',

  /** `AuditQuery` -> `AuditPage`. */
  audit: 'GET /audit',
  /** -> `ChainReport`. Reads the whole chain, so only a button starts it. */
  verifyAudit: 'POST /audit/verify',
  /** `AuditQuery` without `before` and `limit` -> JSON lines, as a download. */
  exportAudit: 'GET /audit/export',

  /** `{ days?: number }` (at most 90) -> `UsageReport`. */
  usage: 'GET /usage',
  /** -> `ConnectInfo`. */
  connect: 'GET /connect',
} as const;

/** What went wrong, and what to do. The message is shown unchanged. */
export interface ConsoleFailure {
  readonly error: {
    /** `no_session`: show how to get a link. `conflict`: another person or process was faster. `gone`: it was deleted. */
    readonly code: 'no_session' | 'forbidden' | 'bad_input' | 'not_found' | 'conflict' | 'busy' | 'internal' | string;
    readonly message: string;
  };
}
