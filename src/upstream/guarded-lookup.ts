import { lookup as resolve } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * Resolves names for a connection. The connection uses exactly the addresses that `check` accepted, so a name that changes between
 * check and connect (DNS rebinding) gains nothing. `check` throws for a forbidden address.
 */
export function guardedLookup(check: (hostname: string, address: string) => void): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '', 0);
      try {
        for (const { address } of addresses) check(hostname, address);
      } catch (refused) {
        return callback(refused as NodeJS.ErrnoException, '', 0);
      }
      const [first] = addresses;
      if (options.all === true) return callback(null, addresses);
      return callback(null, first?.address ?? '', first?.family);
    });
  };
}
