import { linkTo } from './router.js';

/** Prefix of the run id under which calls that undo a run are approved and recorded. */
const UNDO = 'undo-';

export function isUndo(runId: string): boolean {
  return runId.startsWith(UNDO);
}

/** The link to a run. A call that undoes a run links to that run, with what can be undone. */
export function runLink(runId: string): string {
  return isUndo(runId) ? linkTo(['runs', runId.slice(UNDO.length)], { show: 'undo' }) : linkTo(['runs', runId]);
}
