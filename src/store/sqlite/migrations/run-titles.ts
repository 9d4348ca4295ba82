/** The duration of a run, and (sealed) the line of its program that lists show. Both are unknown for older runs. */
export const RUN_TITLES = `
  ALTER TABLE runs ADD COLUMN duration_ms REAL;
  ALTER TABLE runs ADD COLUMN title BLOB;
`;
