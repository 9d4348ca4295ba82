import { lookup as resolve } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * Resolves names for a connection. What `check` accepts is what is connected to: a name that changes its mind between the
 * check and the connection wins nothing. `check` throws for an address that a connection must not be made to.
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
