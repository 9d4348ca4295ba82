/**
 * The modules that programs could import, once for each list of them: with a thousand tools they were most of every recording.
 * Recordings from before have their own copy inside.
 */
export const RUN_MODULES = `
  CREATE TABLE run_modules (
    digest TEXT PRIMARY KEY,
    -- Sealed.
    modules BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;
  ALTER TABLE runs ADD COLUMN modules TEXT;
  CREATE INDEX runs_by_modules ON runs (modules) WHERE modules IS NOT NULL;
`;
