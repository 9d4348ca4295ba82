// @ts-check
/**
 * Something else that runs programs. `run(index)` does what a fresh run of ours does: a program that has not been seen
 * before awaits something, and comes to `index + 42`.
 *
 * @typedef {object} Peer
 * @property {string} name
 * @property {(index: number) => Promise<unknown>} run
 * @property {(json: string, body: string) => Promise<unknown>} [filter] runs the body, where `bigJson()` gives the text
 * @property {() => Promise<void>} close
 */

/**
 * Where each is, the package it needs (none: it is made of what is there), and how many times longer than ours its run
 * has to take for our goal to be met.
 *
 * @type {readonly { file: string, package?: string, isLarge?: boolean, goalRatio?: number }[]}
 */
export const PEERS = [
  { file: 'quickjs-emscripten.mjs', package: 'quickjs-emscripten' },
  { file: 'run-package.mjs', package: 'run' },
  { file: 'jailed-node.mjs', goalRatio: 100 },
  { file: 'workerd.mjs', package: 'workerd', isLarge: true, goalRatio: 10 },
];
