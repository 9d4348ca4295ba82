/** Approvals, their decisions, and grants that cover more than one call. */
export const APPROVALS = `
  CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    run TEXT NOT NULL,
    call INTEGER NOT NULL,
    caller TEXT NOT NULL,
    server TEXT NOT NULL,
    server_fingerprint TEXT NOT NULL,
    tool TEXT NOT NULL,
    tool_digest TEXT NOT NULL,
    arguments BLOB NOT NULL,
    arguments_digest TEXT NOT NULL,
    reason TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('PENDING', 'APPROVED', 'DENIED', 'EXPIRED')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    decided_by TEXT,
    decided_at INTEGER,
    decision_reason TEXT,
    scope TEXT,
    used_at INTEGER,
    -- Vouches for a yes: who can write to this file, and has not the key, approves nothing.
    mark BLOB
  ) STRICT;
  CREATE INDEX approvals_by_run ON approvals (run, call);
  CREATE INDEX approvals_that_wait ON approvals (state) WHERE state = 'PENDING';

  CREATE TABLE grants (
    -- Of one run, or of every run of the caller where it is empty.
    run TEXT NOT NULL,
    caller TEXT NOT NULL,
    server TEXT NOT NULL,
    server_fingerprint TEXT NOT NULL,
    tool TEXT NOT NULL,
    tool_digest TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    approval TEXT NOT NULL,
    mark BLOB NOT NULL,
    PRIMARY KEY (run, caller, server, tool)
  ) STRICT, WITHOUT ROWID;
`;
