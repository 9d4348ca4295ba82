// @ts-check
/**
 * The groups of rows, in the order of the table. Each runs in its own process (`group-process.mjs`), so that
 * neither the heap nor the compiled code of one shows in the figures of the next.
 *
 * @type {readonly { name: string, measures: string, needsPeers: boolean }[]}
 */
export const GROUPS = [
  { name: 'fresh', measures: 'a fresh run: ours, and what the peers take for the same', needsPeers: true },
  { name: 'calls', measures: 'the round trip of a call, and a 10 MB result', needsPeers: true },
  { name: 'broker', measures: 'what the broker does for a call, and its record', needsPeers: false },
  { name: 'waiting', measures: '1,000 runs that wait at once', needsPeers: false },
  { name: 'suspension', measures: 'suspending and resuming a run, in one process and across two', needsPeers: false },
  { name: 'recovery', measures: 'a lost worker, and a run rebuilt from its journal', needsPeers: false },
  {
    name: 'runtimes',
    measures: 'programs on real Python and Node, with a process ready and without',
    needsPeers: false,
  },
  { name: 'go', measures: 'Go programs: compiled first, and compiled before', needsPeers: false },
  { name: 'start', measures: 'the program from nothing to a result, and to its list of tools', needsPeers: false },
  { name: 'mcp', measures: 'the whole path over MCP stdio, and the same tool without us', needsPeers: false },
  {
    name: 'unprotected',
    measures: 'runs, calls and computing over MCP stdio, beside the same without any protection',
    needsPeers: false,
  },
  {
    name: 'engines',
    measures: 'many runs of 10 to 80 ms at once: both engines, and QuickJS alone',
    needsPeers: false,
  },
  { name: 'declarations', measures: 'TypeScript from the schemas of real tools', needsPeers: true },
  { name: 'types', measures: 'the types of a program of 30 lines: from nothing, and warm', needsPeers: false },
  { name: 'search', measures: 'tool search: time, and what it finds', needsPeers: false },
  { name: 'tokens', measures: 'what an agent reads: before its first program, and of answers', needsPeers: false },
  { name: 'memory', measures: "the host's memory over 10,000 runs", needsPeers: false },
];
