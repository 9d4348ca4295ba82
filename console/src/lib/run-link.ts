import { linkTo } from './router.js';

/** Of the calls that undo a run: they are asked about and recorded under its id behind these characters. */
const UNDO = 'undo-';

export function isUndo(runId: string): boolean {
  return runId.startsWith(UNDO);
}

/** Where a run is shown; of a call that undoes one, that run with what can be undone of it. */
export function runLink(runId: string): string {
  return isUndo(runId) ? linkTo(['runs', runId.slice(UNDO.length)], { show: 'undo' }) : linkTo(['runs', runId]);
}
