/** Of the whole program: host, worker and contracts are one release. */
export const VERSION = '0.1.0';
