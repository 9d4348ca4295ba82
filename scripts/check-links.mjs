// @ts-check
// Every relative link in our documents leads to a file that exists, and to a heading that exists where it names one. The paths
// that docs/security names for the code of a control exist too.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { isMain, listFiles, ROOT } from './repository.mjs';

/** `[text](target)` and `![text](target)`. */
const LINK = /\]\(([^()\s]+)\)/g;
/** Addresses of files in this repository, for documents that are packed without them. */
const OURS = 'https://github.com/codemode/codemode/blob/main/';
/** A file or folder of the sources in a code span. */
const SOURCE_PATH = /`((?:src|test)\/[\w./-]+)`/g;

/**
 * @param {string} file a document, from the root
 * @param {string} text
 * @param {string} root
 * @returns {string[]}
 */
export function findBrokenLinks(file, text, root = ROOT) {
  const prose = withoutCodeBlocks(text);
  const broken = [...prose.matchAll(LINK)].flatMap(([, target = '']) => {
    const problem = problemOf(file, target, text, root);
    return problem === undefined ? [] : [`${file}: ${target}: ${problem}`];
  });
  if (!file.startsWith('docs/security/')) return broken;
  const missing = [...prose.matchAll(SOURCE_PATH)].filter(([, path = '']) => !existsSync(join(root, path)));
  return [...broken, ...missing.map(([, path]) => `${file}: ${path}: there is no such file or folder`)];
}

/**
 * @param {string} file
 * @param {string} target
 * @param {string} own the text of `file`
 * @param {string} root
 * @returns {string | undefined}
 */
function problemOf(file, target, own, root) {
  // Other sites are not ours to check.
  if (/^[a-z]+:/.test(target) && !target.startsWith(OURS)) return undefined;
  const [path = '', anchor] = target.replace(OURS, '/').split('#');
  if (path === '') return anchorsOf(own).has(anchor ?? '') ? undefined : 'there is no such heading';
  const found = path.startsWith('/') ? path.slice(1) : normalize(join(dirname(file), decodeURI(path)));
  const full = join(root, found);
  if (!existsSync(full)) return 'there is no such file';
  if (anchor === undefined || statSync(full).isDirectory()) return undefined;
  const text = readFileSync(full, 'utf8');
  const line = /^L(\d+)$/.exec(anchor)?.[1];
  if (line !== undefined)
    return Number(line) <= text.split('\n').length ? undefined : 'the file has fewer lines than that';
  if (!found.endsWith('.md')) return undefined;
  return anchorsOf(text).has(anchor) ? undefined : 'there is no such heading';
}

/** The anchors that GitHub gives to headings. @param {string} text */
function anchorsOf(text) {
  const anchors = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id));
  for (const [, heading = ''] of withoutCodeBlocks(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-');
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count += 1) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

/** @param {string} text */
function withoutCodeBlocks(text) {
  return text.replace(/^(```+).*?^\1/gms, '');
}

/** @param {string} root */
function documents(root) {
  const atRoot = readdirSync(root).filter((name) => name.endsWith('.md'));
  return [...atRoot, ...['docs', 'examples', 'skills'].flatMap((folder) => listFiles(folder, ['.md'], root))];
}

if (isMain(import.meta.url)) {
  const problems = documents(ROOT).flatMap((file) => findBrokenLinks(file, readFileSync(join(ROOT, file), 'utf8')));
  for (const problem of problems) console.log(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
