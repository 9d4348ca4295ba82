import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { type LoadRequest, loadConfig } from './load.js';

/** The folder of the running test, which is also its home folder. */
export let folder: string;

/** Gives every test of the file a folder of its own. */
export function useFolder(): void {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'codemode-config-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
}

export async function load(text: string, request: Partial<LoadRequest> = {}, name = 'codemode.config.yaml') {
  await writeFile(join(folder, name), text);
  return loadConfig({ cwd: folder, environment: { HOME: folder }, configFile: name, ...request });
}

export async function mistake(
  text: string,
  request: Partial<LoadRequest> = {},
  name = 'codemode.config.yaml',
): Promise<string> {
  const error = await load(text, request, name).then(
    () => undefined,
    (thrown: unknown) => thrown as { code?: string; message: string },
  );
  expect(error).toMatchObject({ code: 'bad_config' });
  return (error?.message ?? '').replaceAll(`${folder}/`, '');
}
