import type { Environment } from './environment.js';

/**
 * Where the session bus of this person is, if anywhere. Clients start us with a bare environment, so the place where
 * systemd puts it counts too: otherwise a key that a login put into the keyring would not be found by the host.
 */
export function sessionBus(
  environment: Environment,
  userId: number | undefined,
): { readonly bus: string; readonly userId: number } | undefined {
  if (userId === undefined) return undefined;
  const { DBUS_SESSION_BUS_ADDRESS: given, XDG_RUNTIME_DIR: runtime } = environment;
  if (given !== undefined && given !== '') return { bus: given, userId };
  const folder = runtime?.startsWith('/') ? runtime : `/run/user/${userId}`;
  return { bus: `unix:path=${encodeURI(folder)}/bus`, userId };
}
