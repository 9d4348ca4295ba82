// @ts-check
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './repository.mjs';

/** The licences of the packages that these files are of, as they ask for. @param {readonly string[]} inputs */
export function noticesOf(inputs) {
  const folders = new Set(inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []));
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    return `${name} ${version} (${license})\n\n${licenceIn(folder)}\n`;
  });
  return `Parts of these packages are in the files of this folder.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

/** The text of a package's licence: a file of its own, or (pg-types, pgpass) the last section of its README. @param {string} folder */
function licenceIn(folder) {
  const files = readdirSync(join(ROOT, folder));
  const read = (/** @type {string} */ file) => readFileSync(join(ROOT, folder, file), 'utf8');
  const own = files.find((file) => /^licen[cs]e(\.|$)/i.test(file));
  if (own !== undefined) return read(own).trim();
  const readme = files.find((file) => /^readme\.md$/i.test(file));
  const section = /^#+ licen[cs]e\s+((?:.*\n)*?.*permission is hereby granted[^#]*)$/im.exec(
    readme === undefined ? '' : read(readme),
  );
  if (section === null) throw new Error(`${folder} has no text of its licence, so it cannot be bundled`);
  return (section[1] ?? '').trim();
}
