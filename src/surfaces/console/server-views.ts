import type { ServerView } from '../../domain/console/tools.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { ConsoleOptions } from './console-options.js';

const MAX_WARNINGS = 50;

/** The current state of every configured server. */
export function serverViews({
  inventory,
  host,
  servers,
}: Pick<ConsoleOptions, 'inventory' | 'host' | 'servers'>): ServerView[] {
  const health = new Map(host.health().map((each) => [each.id, each]));
  return inventory.servers().map((report) => {
    const { id, path, state, transport, name, version, toolCount, reason, needsLogin, warnings } = report;
    const { since, losses = 0 } = health.get(id) ?? {};
    const { isTrusted, labels } = servers.traitsOf(id);
    return {
      ...{ id, path, state, transport, toolCount, needsLogin, losses, labels, isTrusted },
      canLogIn: servers.canLogIn(id),
      ...omitUndefined({ name, version, reason, sinceMs: since?.getTime() }),
      warnings: warnings.slice(0, MAX_WARNINGS),
    };
  });
}
