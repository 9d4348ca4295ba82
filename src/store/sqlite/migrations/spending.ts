/** What was spent on tool calls, by day (UTC), in millionths of the unit that the prices are in. */
export const SPENDING = `
CREATE TABLE spending (
  day TEXT PRIMARY KEY,
  amount INTEGER NOT NULL CHECK (amount >= 0)
) STRICT, WITHOUT ROWID;
`;
