/** Runs that are suspended or have ended, what reached them after they were resumed, and who holds them. */
export const RUNS = `
  CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    caller TEXT NOT NULL,
    profile TEXT NOT NULL,
    -- Digest of the servers it was started with: a host with others cannot go on with it.
    setting TEXT NOT NULL,
    code_digest TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'finished', 'failed', 'cancelled')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- The process that is going on with it.
    holder TEXT,
    -- Sealed: the program's memory, what the host knows of it, what it was answered with, and what it takes to run it again.
    program BLOB,
    context BLOB,
    response BLOB,
    recording BLOB
  ) STRICT;
  CREATE INDEX runs_by_time ON runs (created_at);
  CREATE INDEX runs_that_wait ON runs (state) WHERE state = 'waiting';

  -- Calls that were sent since the program in \`runs\` was put away. Without a delivery their outcome is unknown.
  CREATE TABLE run_calls (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('made', 'sent')),
    call BLOB NOT NULL,
    PRIMARY KEY (run, number)
  ) STRICT, WITHOUT ROWID;

  -- What reached the program since then, in order.
  CREATE TABLE run_deliveries (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    delivery BLOB NOT NULL,
    PRIMARY KEY (run, position)
  ) STRICT, WITHOUT ROWID;
`;
