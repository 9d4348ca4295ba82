import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { badConfig } from './document.js';

/** A configuration of a thousand servers is half a megabyte. */
export const MAX_CONFIG_BYTES = 5 * 1024 * 1024;

export interface ConfigText {
  readonly text: string;
  /** Of exactly the bytes that `text` was decoded from: a comparison says what will be parsed. */
  readonly digest: string;
}

/** The text of a configuration file. Throws `bad_config` that says why it cannot be one. */
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
  let handle: FileHandle | undefined;
  try {
    // Not blocking: a pipe without a writer would hold us for ever.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await handle.stat();
    if (found.isDirectory()) throw badConfig(file, undefined, 'is a folder; give the file inside it');
    // A pipe or a device could be waited on for ever, and never ends.
    if (!found.isFile()) throw badConfig(file, undefined, 'is not an ordinary file; copy its contents to one');
    if (found.size > MAX_CONFIG_BYTES) {
      throw badConfig(file, undefined, `is ${found.size} bytes long; at most ${MAX_CONFIG_BYTES} are read`);
    }
    return await handle.readFile();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw badConfig(file, undefined, 'does not exist; check the path', error);
    if (code === 'EACCES' || code === 'EPERM')
      throw badConfig(file, undefined, 'may not be read; check its permissions', error);
    if (code === 'ELOOP') throw badConfig(file, undefined, 'is a symbolic link that leads to itself', error);
    // A socket cannot be opened at all.
    if (code === 'ENXIO') throw badConfig(file, undefined, 'is not an ordinary file; copy its contents to one', error);
    throw error;
  } finally {
    await handle?.close();
  }
}
