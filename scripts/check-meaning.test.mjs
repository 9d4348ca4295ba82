// @ts-check
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findProblems } from './check-meaning.mjs';

const folder = mkdtempSync(join(tmpdir(), 'check-meaning-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a promise that nobody waits for is found, and one that is taken care of is not', () => {
  const text = `declare function write(): Promise<void>;
    declare function maybe(): Promise<void> | undefined;
    declare const close: { now(): void; later(): Promise<void> };
    declare function either(now: true): void; declare function either(now: false): Promise<void>;
    declare function same<T>(value: T): T;
    declare function expect(value: unknown): { toBe(other: unknown): void; resolves: { toBe(other: unknown): Promise<void> } };
    export async function all() {
      write();
      maybe();
      close.later();
      write().then(() => 1);
      write().finally(() => 1);
      new Promise<void>(() => {});
      either(false);
      same(write());
      expect(1).resolves.toBe(1);
      expect(1).toBe(1);
      either(true);
      same(1);
      await write();
      void write();
      close.now();
      write().catch(() => 1);
      write().then(() => 1, () => 2);
      write().catch(() => 1).finally(() => 1);
      const kept = write();
      return kept;
    }`;
  expect(linesWithProblems(text)).toEqual([8, 9, 10, 11, 12, 13, 14, 15, 16]);
});

test('a switch over a union needs every case or a default; other switches need nothing', () => {
  const text = `type Message = { type: 'a' } | { type: 'b'; n: 1 | 2 } | { type: 'c' };
    declare const all: Message; declare const some: Exclude<Message, { type: 'c' }>; declare const text: string;
    switch (all.type) { case 'a': case 'b': }
    switch (some.type) { case 'a': }
    switch (all.type) { case 'a': case 'b': case 'c': }
    switch (some.type) { case 'a': case 'b': }
    switch (all.type) { case 'a': break; default: }
    switch (text) { case 'a': }
    export {};`;
  expect(linesWithProblems(text)).toEqual([3, 4]);
});

test('a conditional that passes an optional field is found; other conditionals are not', () => {
  const text = `declare const x: string | undefined; declare const o: { a?: string } | undefined; declare const n: number;
    declare function f(text: string): string; declare function later(text: string): Promise<string>;
    export const a = { n, ...(x === undefined ? {} : { x }) };
    export const b = { n, ...(x === undefined ? {} : { y: f(x) }) };
    export const c = o?.a === undefined ? {} : { y: o.a };
    export const d = { ...(x === undefined ? {} : { n }) };
    export const e: { y?(z: string): string } = { ...(x === undefined ? {} : { y: (z) => z + x }) };
    export const g = async () => ({ ...(x === undefined ? {} : { y: await later(x) }) });
    export const h = { ...(n === 0 ? {} : { n }), ...(x === undefined ? { n } : { x }) };`;
  expect(linesWithProblems(text)).toEqual([3, 4, 5]);
});

function linesWithProblems(text) {
  writeFileSync(join(folder, 'a.ts'), text);
  writeFileSync(
    join(folder, 'tsconfig.json'),
    '{"compilerOptions":{"strict":true,"lib":["es2023"],"types":[]},"include":["."]}',
  );
  return findProblems(join(folder, 'tsconfig.json')).map((problem) => Number(problem.split(':')[1]));
}
