import { FETCH_TARGET, FILE_TARGETS } from '../broker/capabilities/targets.js';
import { namespacesOf } from '../catalog/namespaces.js';
import type { CatalogSnapshot } from '../catalog/snapshot.js';
import type { CapabilitySet } from '../domain/capability.js';
import type { BodyForm, VirtualModule } from '../domain/execution.js';
import type { JsonObject } from '../domain/json.js';

/** What the body of a function finds under its own names: `mcp`, and what it was granted besides. */
const API_MODULE = '@codemode/api';

export function apiModulesOf(snapshot: CatalogSnapshot): readonly VirtualModule[] {
  let modules = known.get(snapshot);
  if (modules === undefined) {
    const namespaces = Object.fromEntries(
      namespacesOf(snapshot).map(({ name, methods }) => [
        name,
        Object.fromEntries(methods.map((method) => [method.name, method.tool.target])),
      ]),
    );
    modules = [
      {
        specifier: API_MODULE,
        exports: [
          { kind: 'namespaces', name: 'mcp', namespaces },
          { kind: 'fetch', name: 'fetch', target: FETCH_TARGET },
          { kind: 'calls', name: 'fs', targets: FILE_TARGETS },
        ],
      },
    ];
    known.set(snapshot, modules);
  }
  return modules;
}

const known = new WeakMap<CatalogSnapshot, readonly VirtualModule[]>();

export function bodyFormOf(context: JsonObject, { network, filesystem }: CapabilitySet): BodyForm {
  const granted = [...(network === undefined ? [] : ['fetch']), ...(filesystem === undefined ? [] : ['fs'])];
  return { context, module: API_MODULE, names: ['mcp', ...granted] };
}
