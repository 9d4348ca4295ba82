/** One row that proves, without revealing the key, that a host has the key under which this database is sealed. */
export const IDENTITY = `
  CREATE TABLE codemode.identity (
    id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    key_check bytea NOT NULL
  );
`;
