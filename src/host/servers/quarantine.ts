/** A server that a running host leaves alone for a while: surfaces see it through the host. */
export type { Quarantine } from '../../store/quarantines.js';
