/** Hosts that are up, by the database clock. What a host holds is released as soon as its row has expired. */
export const HOSTS = `
  CREATE TABLE codemode.hosts (
    id text PRIMARY KEY,
    name text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
  );
  CREATE INDEX hosts_by_expiry ON codemode.hosts (expires_at);
`;
