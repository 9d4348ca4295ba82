import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileToChange } from './own-file.js';

test('a named file that is read as a configuration can also be changed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-own-'));
  try {
    const of = (name: string) => {
      writeFileSync(join(folder, name), '{}');
      return fileToChange({ named: join(folder, name), isProject: false, cwd: folder, environment: { HOME: folder } });
    };
    for (const name of ['a.json', 'a.jsonc', 'a.yaml', 'a.yml']) expect((await of(name)).text).toBe('{}');
    await expect(of('a.txt')).rejects.toThrow('must end in');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
