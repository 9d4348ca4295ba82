/** Records of one call have its id in common: the one made while it was under way, and the one of its outcome. */
export const AUDIT_CALLS = `
  ALTER TABLE audit ADD COLUMN call_id TEXT NOT NULL DEFAULT '';
`;
