import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { UpstreamDefinition } from '../../domain/upstream.js';
import { exposureWarnings } from './exposure.js';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'codemode-exposure-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const [notes, state, file] = [join(base, 'notes'), join(base, 'home', 'state'), join(base, 'home', 'config.yaml')];
mkdirSync(notes);
mkdirSync(state, { recursive: true });
writeFileSync(file, '');
symlinkSync(join(base, 'home'), join(base, 'link'));

const warningsFor = (...words: string[]) =>
  exposureWarnings(
    [
      {
        id: 'files',
        target: { kind: 'stdio', command: 'x', arguments: words, environment: {} },
      } as unknown as UpstreamDefinition,
    ],
    { file, stateFolder: state },
  );

test('a server that is given a folder with the rules in it is warned about', () => {
  expect(warningsFor(base)).toEqual([
    expect.stringMatching(/^server files can use .*, which contains the configuration: .*narrower folder$/),
    expect.stringMatching(/which contains the state folder:/),
  ]);
  expect(warningsFor('/')).toHaveLength(2);
  expect(warningsFor(state)).toEqual([expect.stringMatching(/the state folder/)]);
});

test('a link to such a folder is the folder', () => {
  expect(warningsFor(join(base, 'link'))).toHaveLength(2);
});

test('other folders, files and words are nothing to warn about', () => {
  expect(warningsFor(notes, file, '-y', '--port=1', join(base, 'home2'), join(base, 'hom'))).toEqual([]);
});

test('a server that is given the folder of an OpenAPI document is warned about too', () => {
  const api = { id: 'pets', target: { kind: 'openapi', document: join(notes, 'pets.yaml'), headers: {} } };
  const files = { id: 'files', target: { kind: 'stdio', command: 'x', arguments: [notes], environment: {} } };
  const upstreams = [api, files] as unknown as UpstreamDefinition[];
  expect(exposureWarnings(upstreams, { file, stateFolder: state })).toEqual([
    expect.stringMatching(/^server files can use .*, which contains the OpenAPI document of pets:/),
  ]);
});
