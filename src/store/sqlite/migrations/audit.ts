/**
 * One row for each call, and one row that says where the chain begins after its oldest part was removed. No index: it would cost
 * every call another page of the log, and a search for a run can wait for a scan.
 */
export const AUDIT = `
  CREATE TABLE audit (
    number INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    caller TEXT NOT NULL,
    profile TEXT NOT NULL,
    code_digest TEXT NOT NULL,
    server_id TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    arguments_digest TEXT NOT NULL,
    result_bytes INTEGER,
    duration_ms REAL NOT NULL,
    verdict TEXT NOT NULL,
    approval TEXT NOT NULL,
    redactions TEXT NOT NULL,
    hash TEXT NOT NULL,
    mac TEXT NOT NULL
  ) STRICT;
  CREATE TABLE audit_anchor (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    count INTEGER NOT NULL,
    hash TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    reason TEXT NOT NULL,
    mac TEXT NOT NULL
  ) STRICT;
`;
