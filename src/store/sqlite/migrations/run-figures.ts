/** How many calls a run made and how many bytes tools answered: lists show them. Unknown of older runs. */
export const RUN_FIGURES = `
  ALTER TABLE runs ADD COLUMN calls INTEGER;
  ALTER TABLE runs ADD COLUMN tool_bytes INTEGER;
`;
