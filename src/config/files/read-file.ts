import { createHash } from 'node:crypto';
import { readRegularFile, UnreadableFile } from '../../lib/files/read-regular-file.js';
import { badConfig } from './document.js';

/** A configuration of a thousand servers is half a megabyte. */
export const MAX_CONFIG_BYTES = 5 * 1024 * 1024;

export interface ConfigText {
  readonly text: string;
  /** The digest of exactly the bytes that `text` was decoded from, so that what is compared is what is parsed. */
  readonly digest: string;
}

/** The text of a configuration file. Throws `bad_config` with the reason if it cannot be one. */
export async function readConfigFile(file: string): Promise<string> {
  return (await readConfigText(file)).text;
}

/** The same with its digest. The file is read once. */
export async function readConfigText(file: string): Promise<ConfigText> {
  const bytes = await readBytes(file);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw badConfig(file, undefined, 'is not text in UTF-8; save it as UTF-8 YAML or JSON', error);
  }
  if (text.includes('\0')) throw badConfig(file, undefined, 'is a binary file; a YAML or JSON file is expected');
  if (text.trim() === '')
    throw badConfig(file, undefined, 'is empty; run `codemode init` to write a first configuration');
  return { text, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` };
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readRegularFile(file, MAX_CONFIG_BYTES);
  } catch (error) {
    if (error instanceof UnreadableFile) throw badConfig(file, undefined, problemOf(error), error);
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw badConfig(file, undefined, 'does not exist; check the path', error);
    if (code === 'EACCES' || code === 'EPERM')
      throw badConfig(file, undefined, 'may not be read; check its permissions', error);
    if (code === 'ELOOP') throw badConfig(file, undefined, 'is a symbolic link that leads to itself', error);
    throw error;
  }
}

function problemOf({ why, size }: UnreadableFile): string {
  switch (why) {
    case 'folder':
      return 'is a folder; give the file inside it';
    case 'not_regular':
      return 'is not an ordinary file; copy its contents to one';
    case 'too_large':
      return `is ${size} bytes long; at most ${MAX_CONFIG_BYTES} are read`;
  }
}
