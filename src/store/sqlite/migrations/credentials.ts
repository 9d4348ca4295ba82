/** The sealed credentials for servers, and which process is renewing them. */
export const CREDENTIALS = `
CREATE TABLE credentials (
  server_id TEXT NOT NULL,
  url TEXT NOT NULL,
  kind TEXT NOT NULL,
  sealed BLOB NOT NULL,
  saved_at_ms INTEGER NOT NULL,
  PRIMARY KEY (server_id, url, kind)
) STRICT;
CREATE TABLE credential_locks (
  name TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  until_ms INTEGER NOT NULL
) STRICT;
`;
