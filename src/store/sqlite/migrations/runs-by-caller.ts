/** Stored runs are bounded for each caller. */
export const RUNS_BY_CALLER = `
  CREATE INDEX runs_by_caller ON runs (caller, created_at);
`;
