/** Access to the console: unused links, sessions, and the hosts that serve it. Secrets are stored as digests only. */
export const CONSOLE = `
CREATE TABLE console_links (
  digest TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  name TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  -- Vouches for the row: who can write to this file, and has not the key, makes no link and no session.
  mark BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE console_sessions (
  id TEXT PRIMARY KEY,
  cookie_digest TEXT NOT NULL UNIQUE,
  key_digest TEXT NOT NULL,
  role TEXT NOT NULL,
  name TEXT NOT NULL,
  host TEXT NOT NULL,
  browser TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  mark BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE console_hosts (
  holder TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  started_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
