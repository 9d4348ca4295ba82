/** The number of calls of a run and of bytes that tools answered, for lists. Unknown for older runs. */
export const RUN_FIGURES = `
  ALTER TABLE runs ADD COLUMN calls INTEGER;
  ALTER TABLE runs ADD COLUMN tool_bytes INTEGER;
`;
