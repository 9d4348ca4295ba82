// @ts-check
/**
 * The groups of rows, in the order of the table. Each runs in a process of its own (`group-process.mjs`), so that
 * neither the heap nor the compiled code of one shows in the figures of the next.
 *
 * @type {readonly { name: string, measures: string, needsPeers: boolean }[]}
 */
export const GROUPS = [
  { name: 'fresh', measures: 'a fresh run: ours, and what the peers take for the same', needsPeers: true },
  { name: 'calls', measures: 'the round trip of a call, and a 10 MB result', needsPeers: true },
  { name: 'waiting', measures: '1,000 runs that wait at once', needsPeers: false },
  { name: 'suspension', measures: 'a run put away and woken, here and in another process', needsPeers: false },
  { name: 'recovery', measures: 'a lost worker, and a run rebuilt from its journal', needsPeers: false },
  { name: 'start', measures: 'the command line from nothing to a result', needsPeers: false },
  { name: 'memory', measures: "the host's memory over 10,000 runs", needsPeers: false },
];
