/** Where the key of a state folder is to be kept. */
export const KEYRING_CHOICES = ['auto', 'file', 'required'] as const;
export type KeyringChoice = (typeof KEYRING_CHOICES)[number];

export type KeyPlace = 'file' | 'keyring';

/** Where the key of a state folder is, and how it gets elsewhere. It stays the same key. */
export interface KeyKeeper {
  /** Undefined where none was made yet. Throws `bad_config` where the key cannot be had. */
  check(): Promise<KeyPlace | undefined>;
  /** Makes one where there is none. Says where it was before. Throws `bad_config`, and then it is where it was. */
  moveToKeyring(): Promise<KeyPlace | undefined>;
  moveToFile(): Promise<KeyPlace | undefined>;
}
