import * as z from 'zod';
import { duration, integer, means } from './units.js';

export const storeSchema = z.string().regex(/^postgres(ql)?:\/\/[^\s]+$/, {
  error: 'an address such as postgres://user:password@host:5432/database',
});

export const clusterSchema = z.strictObject({
  lease: duration({ minMs: 1_000, maxMs: 600_000 })
    .default(15_000)
    .meta(
      means(
        'How long a host keeps its runs without renewing its lease, by the clock of the database. Then other hosts resume them.',
        '30s',
      ),
    ),
  connections: integer(2, 1_000)
    .default(10)
    .meta(means('Connections to the database that one host opens at most, besides one that listens.', '20')),
});
