/** The number of calls of a run and of bytes that tools answered, for lists. Unknown for older runs. */
export const RUN_FIGURES = `
  ALTER TABLE codemode.runs ADD COLUMN calls bigint, ADD COLUMN tool_bytes bigint;
`;
