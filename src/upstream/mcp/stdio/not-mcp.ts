/** Precedes the stderr output of a process in a diagnosis. */
export const STDERR_TITLE = 'stderr:\n';

/** The reason for a server that prints text on stdout, which belongs to the protocol. */
export function notMcp(firstLine: string): string {
  return `it prints text that is not MCP on stdout (first line: ${JSON.stringify(firstLine)}); a server must log to stderr`;
}
