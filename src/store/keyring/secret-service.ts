import { DbusConnection } from './dbus-connection.js';
import type { DbusValue, DbusVariant } from './dbus-values.js';

/** How to reach the keyring of the logged-in user, if there is one. */
export interface KeyringAddress {
  /** In D-Bus syntax: `unix:path=/run/user/1000/bus`. */
  readonly bus: string;
  readonly userId: number;
}

/** The time limit for one whole exchange with the keyring, so that a starting program does not hang on it. */
const ANSWER_WITHIN_MS = 2_000;

const NAME = 'org.freedesktop.secrets';
const ROOT = '/org/freedesktop/secrets';
const SERVICE = 'org.freedesktop.Secret.Service';
const COLLECTION = 'org.freedesktop.Secret.Collection';
const ITEM = 'org.freedesktop.Secret.Item';
/** The path that means "none" in replies of this interface. */
const NONE = '/';

/** Why a keyring cannot be used, in words for people. */
export class KeyringUnusable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'KeyringUnusable';
  }
}

/**
 * The Secret Service of the desktop: GNOME's keyring, KWallet, KeePassXC. It is only used while it is unlocked. Nothing here asks
 * to unlock it, because that would open a window in front of a person who did not expect one.
 */
export class SecretService {
  readonly #bus: DbusConnection;
  readonly #session: string;

  private constructor(bus: DbusConnection, session: string) {
    this.#bus = bus;
    this.#session = session;
  }

  /** Opens the service, runs `act` and closes the service. Throws `KeyringUnusable` for any failure in talking to the keyring. */
  static async use<Result>(
    address: KeyringAddress | undefined,
    act: (service: SecretService) => Promise<Result>,
  ): Promise<Result> {
    if (address === undefined) throw new KeyringUnusable('this session has no bus');
    let bus: DbusConnection | undefined;
    try {
      bus = await DbusConnection.open(address.bus, address.userId, ANSWER_WITHIN_MS);
      // Unencrypted: anyone who can read this socket could ask the keyring itself.
      const [, session] = await bus.call({
        ...service('OpenSession', 'sv', ['plain', { signature: 's', value: '' }]),
        returns: 'vo',
      });
      return await act(new SecretService(bus, session as string));
    } catch (error) {
      if (error instanceof KeyringUnusable) throw error;
      throw new KeyringUnusable(reasonOf(error as Error));
    } finally {
      bus?.close();
    }
  }

  /** The secret of this name, or undefined if there is none. */
  async find(name: string): Promise<string | undefined> {
    const { unlocked, locked } = await this.#search(name);
    if (unlocked[0] === undefined) {
      if (locked.length > 0) throw new KeyringUnusable('it is locked');
      // A locked keyring may hide its items.
      await this.#defaultCollection();
      return undefined;
    }
    const [secret] = await this.#bus.call({
      ...at(unlocked[0], ITEM, 'GetSecret', 'o', [this.#session]),
      returns: '(oayays)',
    });
    return Buffer.from((secret as readonly DbusValue[])[2] as Uint8Array).toString('utf8');
  }

  /** Stores a secret, and checks that it can be read back. */
  async keep(name: string, secret: string, label: string): Promise<void> {
    const collection = await this.#defaultCollection();
    const properties: DbusValue = [
      [`${ITEM}.Label`, { signature: 's', value: label }],
      [`${ITEM}.Attributes`, { signature: 'a{ss}', value: attributesOf(name) }],
    ];
    const value: DbusValue = [this.#session, new Uint8Array(), Buffer.from(secret), 'text/plain'];
    const [, prompt] = await this.#bus.call({
      ...at(collection, COLLECTION, 'CreateItem', 'a{sv}(oayays)b', [properties, value, true]),
      returns: 'oo',
    });
    if (prompt !== NONE) throw new KeyringUnusable('it would ask for a password');
    if ((await this.find(name)) !== secret) throw new KeyringUnusable('it does not return what was stored in it');
  }

  async remove(name: string): Promise<void> {
    for (const item of (await this.#search(name)).unlocked)
      await this.#bus.call({ ...at(item, ITEM, 'Delete'), returns: 'o' });
  }

  async #search(name: string): Promise<{ unlocked: readonly string[]; locked: readonly string[] }> {
    const [unlocked, locked] = (await this.#bus.call({
      ...service('SearchItems', 'a{ss}', [attributesOf(name)]),
      returns: 'aoao',
    })) as [readonly string[], readonly string[]];
    return { unlocked, locked };
  }

  /** The collection that new secrets go to. Throws if it is locked. */
  async #defaultCollection(): Promise<string> {
    const [path] = await this.#bus.call({ ...service('ReadAlias', 's', ['default']), returns: 'o' });
    if (path === NONE) throw new KeyringUnusable('it has no default collection');
    const [locked] = await this.#bus.call({
      ...at(path as string, 'org.freedesktop.DBus.Properties', 'Get', 'ss', [COLLECTION, 'Locked']),
      returns: 'v',
    });
    if ((locked as DbusVariant).value !== false) throw new KeyringUnusable('it is locked');
    return path as string;
  }
}

function attributesOf(name: string): DbusValue {
  return [
    ['application', 'codemode'],
    ['key', name],
  ];
}

function service(member: string, signature: string, values: readonly DbusValue[]) {
  return at(ROOT, SERVICE, member, signature, values);
}

function at(path: string, of: string, member: string, signature = '', values: readonly DbusValue[] = []) {
  return { destination: NAME, path, interface: of, member, signature, values };
}

function reasonOf(error: Error & { readonly reply?: string; readonly code?: string }): string {
  if (error.reply !== undefined && /\.(ServiceUnknown|NameHasNoOwner)$/.test(error.reply)) return 'none is running';
  if (error.reply?.endsWith('.IsLocked') === true) return 'it is locked';
  return error.code === undefined ? error.message : `its bus cannot be reached (${error.code})`;
}
