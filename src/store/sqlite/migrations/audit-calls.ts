/** All records of one call share its id: the one made while it was in flight, and the one of its outcome. */
export const AUDIT_CALLS = `
  ALTER TABLE audit ADD COLUMN call_id TEXT NOT NULL DEFAULT '';
`;
