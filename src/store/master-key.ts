import { secretFile } from './secret-file.js';

/** The key under which everything secret in this state folder is sealed, for each purpose with a key derived from it. */
export async function masterKey(stateFolder: string): Promise<Uint8Array> {
  return new Uint8Array(Buffer.from(await secretFile(stateFolder, 'key', 'key'), 'base64url'));
}
