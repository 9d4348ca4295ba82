import { exportNames } from '../../catalog/names.js';
import { type Namespace, namespacesOf } from '../../catalog/namespaces.js';
import { type CatalogSnapshot, isUnavailable } from '../../catalog/snapshot.js';

/** The namespaces that a body names, as far as a file of declarations can have their names: others are not checked. */
export function namedNamespaces(source: string, snapshot: CatalogSnapshot): readonly Namespace[] {
  const words = new Set(source.match(/[A-Za-z_$][\w$]*/g));
  return namespacesOf(snapshot).filter(
    ({ name, server, methods }) =>
      words.has(name) &&
      !isUnavailable(server) &&
      isDeclarable(name) &&
      methods.every((method) => isDeclarable(method.name)),
  );
}

/** Members of an object may have names that functions must not have: `delete`, `a-b`. */
function isDeclarable(name: string): boolean {
  return exportNames([name]).get(name) === name;
}
