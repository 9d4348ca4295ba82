import type { Catalog } from '../../catalog/catalog.js';
import type { StepSource } from '../../domain/step.js';

const MAX_NAMED = 4;

/** Reports the servers that a run waits for. */
export function connecting(catalog: Pick<Catalog, 'health'>): StepSource {
  return () => {
    const names = catalog
      .health()
      .filter(({ state }) => state === 'connecting')
      .map(({ id }) => id);
    const named = names.slice(0, MAX_NAMED).join(', ');
    const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
    return { doing: names.length === 0 ? 'connecting servers' : `connecting servers: waiting for ${named}${more}` };
  };
}
