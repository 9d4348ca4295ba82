/** A server that a running host avoids for a while. Surfaces see it through the host. */
export type { Quarantine } from '../../store/quarantines.js';
