/** One row: proves that a host has the key under which everything in this database is sealed, without telling the key. */
export const IDENTITY = `
  CREATE TABLE codemode.identity (
    id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    key_check bytea NOT NULL
  );
`;
