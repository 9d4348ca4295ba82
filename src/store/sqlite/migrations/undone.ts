/** Calls of ended runs that were undone. The outcome of each is sealed. */
export const UNDONE = `
CREATE TABLE undone (
  run TEXT NOT NULL,
  call INTEGER NOT NULL,
  state BLOB NOT NULL,
  PRIMARY KEY (run, call)
) STRICT, WITHOUT ROWID;
`;
