/** Stored approvals are bounded for each caller. */
export const APPROVALS_BY_CALLER = `
  CREATE INDEX approvals_by_caller ON approvals (caller, created_at);
`;
