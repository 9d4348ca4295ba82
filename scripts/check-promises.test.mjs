import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findFloatingPromises } from './check-promises.mjs';

const folder = mkdtempSync(join(tmpdir(), 'promises-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a promise that nobody waits for is found, and one that is taken care of is not', () => {
  const text = `declare function write(): Promise<void>;
    declare function maybe(): Promise<void> | undefined;
    declare const close: { now(): void; later(): Promise<void> };
    export async function all() {
      write();
      maybe();
      close.later();
      write().then(() => 1);
      write().finally(() => 1);
      new Promise<void>(() => {});
      await write();
      void write();
      close.now();
      write().catch(() => 1);
      write().then(() => 1, () => 2);
      write().catch(() => 1).finally(() => 1);
      const kept = write();
      return kept;
    }`;
  writeFileSync(join(folder, 'a.ts'), text);
  writeFileSync(
    join(folder, 'tsconfig.json'),
    '{"compilerOptions":{"strict":true,"lib":["es2023"],"types":[]},"include":["."]}',
  );
  const lines = findFloatingPromises(join(folder, 'tsconfig.json')).map((problem) => Number(problem.split(':')[1]));
  expect(lines).toEqual([5, 6, 7, 8, 9, 10]);
});
