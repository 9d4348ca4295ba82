/** Programs that a person has stored, by name. Their contents are sealed. */
export const SCRIPTS = `
CREATE TABLE scripts (
  name TEXT PRIMARY KEY,
  head BLOB NOT NULL,
  source BLOB NOT NULL
) STRICT, WITHOUT ROWID;
`;
