import { exportNames } from '../../catalog/names.js';
import { type Namespace, namespacesOf } from '../../catalog/namespaces.js';
import { type CatalogSnapshot, isUnavailable } from '../../catalog/snapshot.js';

/** The namespaces that a body names, if their names can be declared. Other namespaces are not checked. */
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

/** Members of an object may have names that functions cannot have: `delete`, `a-b`. */
function isDeclarable(name: string): boolean {
  return exportNames([name]).get(name) === name;
}
