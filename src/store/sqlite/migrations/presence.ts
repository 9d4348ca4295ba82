/** What hosts tell each other while they work: running runs that take longer than a moment, and the clients that have connected. */
export const PRESENCE = `
CREATE TABLE live_runs (
  id TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  caller TEXT NOT NULL,
  profile TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  -- Title and program, sealed.
  facts BLOB NOT NULL,
  is_cancelled INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE clients (
  name TEXT NOT NULL,
  transport TEXT NOT NULL,
  version TEXT NOT NULL,
  caller TEXT NOT NULL,
  holder TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (name, transport)
) STRICT, WITHOUT ROWID;
`;
