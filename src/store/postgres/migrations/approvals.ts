/** Approvals, their decisions, and grants that cover more than one call. */
export const APPROVALS = `
  CREATE TABLE codemode.approvals (
    id text PRIMARY KEY,
    place bigint GENERATED ALWAYS AS IDENTITY,
    run text NOT NULL,
    call integer NOT NULL,
    caller text NOT NULL,
    server text NOT NULL,
    server_fingerprint text NOT NULL,
    tool text NOT NULL,
    tool_digest text NOT NULL,
    arguments bytea NOT NULL,
    arguments_digest text NOT NULL,
    reason text NOT NULL,
    state text NOT NULL CHECK (state IN ('PENDING', 'APPROVED', 'DENIED', 'EXPIRED')),
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    decided_by text,
    decided_at bigint,
    decision_reason text,
    scope text,
    used_at bigint,
    -- Vouches for a decision: who can write to this table, and has not the key, approves nothing.
    mark bytea
  );
  -- A question is asked once, whichever host asks it.
  CREATE UNIQUE INDEX approvals_asked_once ON codemode.approvals
    (run, call, arguments_digest, server, server_fingerprint, tool, tool_digest) WHERE state = 'PENDING';
  CREATE INDEX approvals_by_run ON codemode.approvals (run, call);
  CREATE INDEX approvals_pending ON codemode.approvals (expires_at) WHERE state = 'PENDING';
  CREATE INDEX approvals_by_caller ON codemode.approvals (caller, created_at);
  CREATE INDEX approvals_by_time ON codemode.approvals (created_at DESC, call DESC);

  CREATE TABLE codemode.grants (
    -- Of one run, or of every run of the caller where it is empty.
    run text NOT NULL,
    caller text NOT NULL,
    server text NOT NULL,
    server_fingerprint text NOT NULL,
    tool text NOT NULL,
    tool_digest text NOT NULL,
    expires_at bigint NOT NULL,
    approval text NOT NULL,
    mark bytea NOT NULL,
    PRIMARY KEY (run, caller, server, tool)
  );
`;
