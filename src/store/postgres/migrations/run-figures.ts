/** How many calls a run made and how many bytes tools answered: lists show them. Unknown of older runs. */
export const RUN_FIGURES = `
  ALTER TABLE codemode.runs ADD COLUMN calls bigint, ADD COLUMN tool_bytes bigint;
`;
