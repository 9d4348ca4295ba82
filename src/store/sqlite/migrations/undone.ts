/** Calls of ended runs that were undone. What became of each is sealed. */
export const UNDONE = `
CREATE TABLE undone (
  run TEXT NOT NULL,
  call INTEGER NOT NULL,
  state BLOB NOT NULL,
  PRIMARY KEY (run, call)
) STRICT, WITHOUT ROWID;
`;
