import { FETCH_TARGET, FILE_TARGETS } from '../../broker/capabilities/targets.js';
import { namespacesOf } from '../../catalog/namespaces.js';
import { type CatalogSnapshot, isUnavailable } from '../../catalog/snapshot.js';
import type { JsonObject } from '../../domain/json.js';
import type { BodyForm, VirtualModule } from '../../domain/run.js';

/** The names in scope of a function body: `mcp`, `fetch` and `fs`. */
const API_MODULE = '@codemode/api';

export function apiModulesOf(snapshot: CatalogSnapshot): readonly VirtualModule[] {
  let modules = known.get(snapshot);
  if (modules === undefined) {
    const all = namespacesOf(snapshot);
    const namespaces = Object.fromEntries(
      all.map(({ name, methods }) => [
        name,
        Object.fromEntries(methods.map((method) => [method.name, method.tool.target])),
      ]),
    );
    const unavailable = Object.fromEntries(
      all.flatMap(({ name, server }) => (isUnavailable(server) ? [[name, server.path]] : [])),
    );
    modules = [
      {
        specifier: API_MODULE,
        exports: [
          { kind: 'namespaces', name: 'mcp', namespaces, unavailable },
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

/** `fetch` and `fs` exist without a grant too: a call is refused with the capability string that would grant it. */
export function bodyFormOf(context: JsonObject): BodyForm {
  return { context, module: API_MODULE, names: ['mcp', 'fetch', 'fs'] };
}
