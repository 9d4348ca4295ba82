/**
 * How far a worker is cut off from the machine, best first.
 *
 * - `strict`: all namespaces, no capabilities, a seccomp allow-list, resource limits, an unprivileged uid
 * - `namespaces`: the same view of the machine, without seccomp
 * - `none`: an ordinary process; needs a second, explicit key
 */
export const ISOLATION_LEVELS = ['strict', 'namespaces', 'none'] as const;
export type IsolationLevel = (typeof ISOLATION_LEVELS)[number];
