/** Stands before what a process wrote to stderr, where a diagnosis has it. */
export const STDERR_TITLE = 'stderr:\n';

/** Said of a server that prints for people where the protocol is spoken. */
export function notMcp(firstLine: string): string {
  return `it prints text that is not MCP on stdout (first line: ${JSON.stringify(firstLine)}); a server must log to stderr`;
}
