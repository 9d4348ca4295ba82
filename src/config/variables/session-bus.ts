import type { Environment } from './environment.js';

/**
 * The address of this user's session bus, if there is one. Clients start us with a bare environment, so systemd's default place
 * counts too: otherwise the host would not find a key that a login put into the keyring.
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
