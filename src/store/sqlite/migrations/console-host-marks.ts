/**
 * Authenticates the address where a host serves the console. A row without a mark is from an earlier version, or from a writer
 * without the key.
 */
export const CONSOLE_HOST_MARKS = `
  ALTER TABLE console_hosts ADD COLUMN mark BLOB;
`;
