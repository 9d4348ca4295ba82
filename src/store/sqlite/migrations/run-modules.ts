/**
 * The modules that programs could import, stored once for each distinct list. With a thousand tools they were most of every
 * recording. Older recordings contain their own copy.
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
