/** What hosts share besides runs, approvals and the audit log. */
export const SHARED = `
  CREATE TABLE codemode.spending (day text PRIMARY KEY, amount bigint NOT NULL CHECK (amount >= 0));

  -- How many calls are left of a rate, and when that was.
  CREATE TABLE codemode.rates (
    key text PRIMARY KEY,
    balance double precision NOT NULL,
    at timestamptz NOT NULL
  );

  CREATE TABLE codemode.scripts (name text PRIMARY KEY, head bytea NOT NULL, source bytea NOT NULL);

  CREATE TABLE codemode.credentials (
    server_id text NOT NULL,
    url text NOT NULL,
    kind text NOT NULL,
    sealed bytea NOT NULL,
    saved_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (server_id, url, kind)
  );
  CREATE TABLE codemode.credential_locks (name text PRIMARY KEY, holder text NOT NULL, until timestamptz NOT NULL);

  CREATE TABLE codemode.live_runs (
    id text PRIMARY KEY,
    host text NOT NULL,
    caller text NOT NULL,
    profile text NOT NULL,
    started_at bigint NOT NULL,
    -- Title and program, sealed.
    facts bytea NOT NULL,
    is_cancelled boolean NOT NULL DEFAULT false
  );
  CREATE INDEX live_runs_by_host ON codemode.live_runs (host);
  CREATE TABLE codemode.clients (
    name text NOT NULL,
    transport text NOT NULL,
    version text NOT NULL,
    caller text NOT NULL,
    host text NOT NULL,
    first_at bigint NOT NULL,
    last_at bigint NOT NULL,
    PRIMARY KEY (name, transport)
  );

  CREATE TABLE codemode.console_links (
    digest text PRIMARY KEY,
    role text NOT NULL,
    name text NOT NULL,
    expires_at bigint NOT NULL,
    mark bytea NOT NULL
  );
  CREATE TABLE codemode.console_sessions (
    id text PRIMARY KEY,
    cookie_digest text NOT NULL UNIQUE,
    key_digest text NOT NULL,
    role text NOT NULL,
    name text NOT NULL,
    host text NOT NULL,
    browser text NOT NULL,
    created_at bigint NOT NULL,
    used_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    mark bytea NOT NULL
  );
  CREATE TABLE codemode.console_hosts (
    host text PRIMARY KEY,
    url text NOT NULL,
    started_at bigint NOT NULL,
    mark bytea NOT NULL
  );

  -- Sealed: the tools of servers, what was learned of their results, tokens and hashes of secrets.
  CREATE TABLE codemode.sealed_values (
    name text PRIMARY KEY,
    sealed bytea NOT NULL,
    saved_at timestamptz NOT NULL DEFAULT now()
  );
`;
