/** Where the key of a state folder should be stored. */
export const KEYRING_CHOICES = ['auto', 'file', 'required'] as const;
export type KeyringChoice = (typeof KEYRING_CHOICES)[number];

export type KeyPlace = 'file' | 'keyring';

/** Finds and moves the key of a state folder. Moving does not change the key. */
export interface KeyKeeper {
  /** Undefined if no key was created yet. Throws `bad_config` if the key cannot be read. */
  check(): Promise<KeyPlace | undefined>;
  /** Creates a key if there is none. Returns where the key was before. If it throws `bad_config`, the key stays where it was. */
  moveToKeyring(): Promise<KeyPlace | undefined>;
  moveToFile(): Promise<KeyPlace | undefined>;
}
