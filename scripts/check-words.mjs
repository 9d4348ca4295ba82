// @ts-check
// Plain English, in the words of the field: phrases that read as translated, and second words for one concept
// (docs/glossary.md), are refused in sources, tests and documents. Each names what to write instead. So are test titles that no
// reader takes in at a glance.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isMain, ROOT } from './repository.mjs';
import { titlesIn } from './statements.mjs';

/** @typedef {{ readonly pattern: RegExp, readonly instead: string }} Phrase */

/** @type {readonly Phrase[]} */
export const PHRASES = [
  { pattern: /\bput(?:s|ting)? away\b|\bputAway\b/i, instead: 'suspend (glossary: run state)' },
  { pattern: /(?<!goroutines are )\basleep\b|\bsleepers?\b/i, instead: 'suspended (glossary: run state)' },
  { pattern: /\b(?:is|was|are|were|be) woken\b|\bwokenRuns?\b/i, instead: 'resumed (glossary: run state)' },
  { pattern: /\b(?:not )?to be had\b/i, instead: 'available, or unavailable' },
  { pattern: /\bbefell\b|\bbefalls\b/i, instead: 'say what happens, with a subject and a verb' },
  { pattern: /\bleaves? the house\b|\bof the house\b/i, instead: 'sends data to an external server' },
  { pattern: /\bgo(?:es)? on with\b/i, instead: 'continue, or resume' },
  { pattern: /\bwaiting line\b/i, instead: 'queue' },
  { pattern: /\bcomes? to nothing\b/i, instead: 'fails, or is refused' },
  { pattern: /\bstanding? still\b|\bstands still\b/i, instead: 'is paused' },
  { pattern: /\bwhoever\b/i, instead: 'name who: the caller, the client, the user' },
  { pattern: /\btaken out\b/i, instead: 'removed, or redacted' },
  { pattern: /\bstandard (?:input|output|error)\b/i, instead: 'stdin, stdout, stderr' },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\bfor ever\b/i, instead: 'forever' },
  { pattern: /\bprocessor time\b/i, instead: 'CPU time' },
  { pattern: /\bsays so of\b/i, instead: 'say which: calls that your policy marks `ask`' },
  { pattern: /\bcalls? under way\b/i, instead: 'in flight' },
  { pattern: /\bhands? over a (?:value|result|file|program)\b/i, instead: 'sends, returns or passes' },
  {
    pattern:
      /(?<!\b[Tt]here )\bis no (?:JSON|object|text|address|absolute path|http|tool result|token|recording|file|folder|message|list|npm|capability|package|number|value)\b/,
    instead: 'is not a ...',
  },
  {
    pattern:
      /(?<!\b[Tt]here )\b(?:is|are|was) no (?:answer|data|decision|frame|function|identifier|limit|program|request|result|secret|server|task|tool)s?\b/,
    instead: 'is not a ...',
  },
  { pattern: /\bgood for (?:this|nothing)\b/i, instead: 'may, or may not, do this' },
  { pattern: /\bwhat (?:it|they|he) shall\b/i, instead: 'a noun: a name for the server' },
  { pattern: /\bnone of ours\b/i, instead: 'is not valid, or say whose it is' },
  { pattern: /\b(?:what|nobody knows what) (?:came|became) of\b/i, instead: 'the outcome' },
  { pattern: /\blook yourself\b/i, instead: 'check it yourself' },
  { pattern: /\bhas not the\b/i, instead: 'does not have the, or lacks the' },
  { pattern: /\bbr(?:ing|ings|ought) (?:its|the) \w+ to (?:an|its) end\b/i, instead: 'crash, or stop' },
  { pattern: /\bno business (?:sending|saying)\b/i, instead: 'must not' },
  { pattern: /\bon the search path\b/i, instead: 'on the PATH' },
  { pattern: /\bif (?:that|it) is meant\b/i, instead: 'if it is intended' },
  { pattern: /\bput to sleep\b/i, instead: 'suspended (glossary: run state)' },
  {
    pattern: /\b(?:circumstances|Wakefulness|Setbacks|Tenant)\b|\w+Circumstances\b/,
    instead: 'context, or a name that says what it is',
  },
];

/** A longer title is two claims, or says how instead of what. The ids at its end do not count. */
const MAX_TITLE_CHARACTERS = 90;
const TESTS = /\.test\.(?:tsx?|mjs)$/;

const FOLDERS = ['src', 'console', 'test', 'docs', 'scripts', 'bench'];
const FILES = /\.(?:tsx?|mjs|css|html|md|py|go)$/;
/**
 * Texts that stay as they are: what servers say, what the contracts say, and released migrations, whose SQL state folders
 * have already run.
 */
const NOT_OURS =
  /^(?:test\/(?:fixtures|corpus|mcp-suite|statements|reference)\/|test\/requirements\.ts|docs\/CONFORMANCE\.md|scripts\/check-words|docs\/glossary\.md|src\/store\/(?:sqlite|postgres)\/migrations\/(?!run-states\.ts)|.*\/golden\/)/;

/**
 * @param {string} path
 * @param {string} text
 * @returns {string[]}
 */
export function findPhrases(path, text) {
  return text.split('\n').flatMap((line, index) =>
    PHRASES.flatMap(({ pattern, instead }) => {
      const found = pattern.exec(line)?.[0];
      return found === undefined ? [] : [`${path}:${index + 1}: "${found}": write ${instead}`];
    }),
  );
}

/**
 * @param {string} path
 * @param {string} text
 * @returns {string[]}
 */
export function findLongTitles(path, text) {
  if (!TESTS.test(path)) return [];
  return [...titlesIn(path, text)]
    .filter(([title]) => title.length > MAX_TITLE_CHARACTERS)
    .map(
      ([title, line]) => `${path}:${line}: "${title}": write one claim of at most ${MAX_TITLE_CHARACTERS} characters`,
    );
}

/**
 * @param {string} root
 * @returns {string[]}
 */
export function findProblems(root) {
  const documents = readdirSync(root).filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md');
  const paths = [
    ...FOLDERS.flatMap((folder) => filesIn(join(root, folder))),
    ...documents.map((name) => join(root, name)),
  ];
  return paths.flatMap((path) => {
    const name = relative(root, path);
    if (NOT_OURS.test(name)) return [];
    const text = readFileSync(path, 'utf8');
    return [...findPhrases(name, text), ...findLongTitles(name, text)];
  });
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((entry) =>
    entry.isFile() && FILES.test(entry.name) && !entry.parentPath.includes('node_modules')
      ? [join(entry.parentPath, entry.name)]
      : [],
  );
}

if (isMain(import.meta.url)) {
  const problems = findProblems(ROOT);
  for (const problem of problems) console.log(problem);
  if (problems.length > 0) console.log(`\n${problems.length} phrases and titles to rewrite`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
