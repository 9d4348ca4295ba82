/** Vouches for where a host serves the console. A row without a mark is of an earlier version, or of nobody with the key. */
export const CONSOLE_HOST_MARKS = `
  ALTER TABLE console_hosts ADD COLUMN mark BLOB;
`;
