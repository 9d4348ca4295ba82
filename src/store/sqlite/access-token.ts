import { secretFile } from '../secret-file.js';

/** The token that opens the HTTP surface: the stored one of this state folder, or a new one. */
export function accessToken(stateFolder: string): Promise<string> {
  return secretFile(stateFolder, 'token', 'access token');
}
