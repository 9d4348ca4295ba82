/**
 * Judges what a tool does by its description, if its name does not say. One word proves nothing ("lists deleted items", "shows
 * the command history"), so only whole phrases count. Like a name, a description can only make the decision stricter, never
 * looser.
 */

/** A description begins with its subject. Later text is advice, examples and limits. */
const MAX_CHARACTERS = 600;

interface Phrase {
  readonly says: string;
  /** A word in every text that the pattern matches. The engine takes 20 ms to compile a pattern, and most patterns do not apply. */
  readonly word: RegExp;
  readonly pattern: RegExp;
  /** Counts even if the name says that the tool only reads. */
  readonly isAboveName?: true;
}

const LANGUAGE = '(?:python|javascript|js|typescript|node(?:\\.js)?|ruby|perl|php|lua)';
const CODE = `(?:(?:shell|bash|terminal|system|os|cli|console|powershell|ssh|${LANGUAGE}|raw) ){0,2}(?:(?:commands?|scripts?|code|programs?)|(?<=${LANGUAGE} )(?:expressions?|functions?|statements?|snippets?))`;
/** "a kubectl command", for any program. A harmless one has a qualifier in front: "a read-only command". */
const COMMAND = String.raw`(?:(?!read-?only|slash|the|this|these|other|another|next|previous|same|voice|menu)[\w.+/-]+ ){1,2}commands?`;
const WHICH = `(?:(?:an?|the|any|one|your|some|given|provided|specified|custom|user-supplied|or|more) ){0,3}`;
const RUN = `(?:run|runs|running|execute|executes|executing|evaluate|evaluates|evaluating)`;
/** Introductory words that a sentence may have before it says what the tool does. */
const START = String.raw`^(?:(?:please )?use (?:this|it)(?: \w+)? (?:to|for|when you (?:need|want) to) |(?:this |the |an? )?(?:tool|function|utility|endpoint|action|operation|command|method|api) (?:(?:that|which|to|for|will|can|may|lets|allows|enables|you|is|used|designed|able|it) ){0,4}|(?:(?:you|can|will|lets|allows|enables|used|helps?|to|for|it) ){1,4})?(?:(?:permanently|irreversibly|immediately|safely|simply|automatically|also|instantly|completely|recursively|forcefully|bulk) ){0,2}`;
const ARTICLES = String.raw`(?:(?:an?|the|new|one|your|multiple) ){0,2}(?:(?!to |from |in |into |with |for |of |and )[\w-]+ ){0,2}`;

const PHRASES: readonly Phrase[] = [
  {
    says: 'that it runs arbitrary commands or code',
    word: /run|execut|evaluat/i,
    pattern: phrase(String.raw`\b${RUN} ${WHICH}(?:arbitrary|any) ${CODE}\b|\barbitrary (?:code|command) execution\b`),
    isAboveName: true,
  },
  {
    says: 'that it runs commands or code',
    word: /run|execut|evaluat/i,
    pattern: phrase(
      String.raw`\b${RUN} ${WHICH}${CODE}\b|\b${RUN} (?:javascript|python|bash)\b|${START}(?:run|execut)(?:e?s|e|ning|ing)? ${WHICH}${COMMAND}\b`,
    ),
  },
  {
    says: 'that it opens a shell',
    word: /shell|bash|terminal|repl|command prompt/i,
    pattern: phrase(
      String.raw`\b(?:opens?|starts?|spawns?|launch(?:es)?|provides?|gives?) (?:(?:an?|the|new|you|access|to|full) ){0,3}(?:(?:interactive|remote|reverse|login|root|persistent|system|web|bash|ssh|pty|python|node) ){0,3}(?:shell|bash|terminal|repl|powershell|command prompt)\b`,
    ),
  },
  {
    says: 'that it runs SQL that writes',
    word: /INSERT|UPDATE|DELETE|DROP|ALTER|TRUNCATE/,
    // Without the i flag for the statements: "insert", "update" and "delete" are common words in descriptions.
    pattern:
      /\b(?:INSERT|UPDATE|DELETE|DROP|ALTER|TRUNCATE)\b[^.]{0,60}\b(?:INSERT|UPDATE|DELETE|DROP|ALTER|TRUNCATE)\b/g,
    isAboveName: true,
  },
  {
    says: 'that it runs SQL that writes',
    word: /sql|statement|quer/i,
    pattern: phrase(
      String.raw`\b${RUN} ${WHICH}(?:(?:arbitrary|any|raw) sql|sql (?:query|queries|statements?|commands?)|sql\b)|\b(?:dml|ddl|write|writing|modifying) (?:statements?|queries|query)\b`,
    ),
    isAboveName: true,
  },
  {
    says: 'that it deletes',
    word: /delet|remov|eras|destroy|wip|purg|drop/i,
    pattern: phrase(
      String.raw`${START}(?:delet|remov|eras|destroy|wip|purg|drop)(?:es|e|ing|s|ping)? |\bpermanently (?:delet|remov|eras|destroy)`,
    ),
  },
  {
    says: 'that it sends',
    word: /send|post|deliver|broadcast/i,
    pattern: phrase(
      String.raw`${START}(?:sends?|sending|posts?|delivers?|broadcasts?) ${ARTICLES}(?:e-?mails?|mails?|messages?|sms|texts?|notifications?|invitations?|tweets?|faxe?s?)\b`,
    ),
  },
  {
    says: 'that it spends money',
    word: /purchas|buy|pay|donat|money|funds|crypto|order|bet|charge|debit|refund|transfer/i,
    pattern: phrase(
      String.raw`${START}(?:purchas(?:es?|ing)|buy(?:s|ing)?|pay(?:s|ing)?|donat(?:es?|ing)) |\b(?:transfers?|sends?|withdraws?|wires?|moves?) (?:money|funds|crypto)\b|\bplaces? an? (?:\w+ )?(?:order|bet)\b|\b(?:charges?|debits?) (?:the|your|a|their) (?:\w+ )?(?:card|account|customer|wallet)\b|\bspends? (?:real )?money\b|${START}(?:issues?|process(?:es)?|makes?|initiates?|submits?|authori[sz]es?|captures?|performs?) ${ARTICLES}(?:payments?|refunds?|payouts?|purchases?|donations?|(?:wire|bank|money) transfers?)\b`,
    ),
  },
];

function phrase(source: string): RegExp {
  return new RegExp(source, 'gi');
}

/** Negations that cancel a phrase if they stand directly before its verb. Elsewhere in the sentence they refer to something else. */
const NOT_SO_BEFORE =
  /(?:\b(?:not|never|cannot|can't|won't|doesn't|don't|without|how to|instead of|rather than|unlike|prevents?|blocks?|rejects?|refuses?|forbids?|disallows?|before(?: you)?|examples? of)|n’t)(?: (?:ever|be|actually|permanently|automatically|directly|itself|to|from|any|you))?[ :]*$/i;
/** Negations directly after a list of statements: "INSERT, UPDATE and DELETE are rejected". */
const NOT_SO_AFTER =
  /^(?:[\s,/]|and|or|INSERT|UPDATE|DELETE|DROP|ALTER|TRUNCATE|CREATE|statements?|queries)*\b(?:is|are|will be) (?:always )?(?:not (?:allowed|permitted|supported)|rejected|forbidden|blocked|refused|disallowed)\b/i;

const NO_WAY_BACK = /\b(?:cannot|can not|can't) be (?:undone|reversed)\b|\bis irreversible\b/i;

/** The reason to ask, or `undefined`. `saysItReads`: the name says that the tool only reads. */
export function judgeDescription(description: string, saysItReads: boolean): string | undefined {
  const text = description
    .slice(0, 4 * MAX_CHARACTERS)
    .normalize('NFKD')
    // Invisible characters are escapes here (`visible-tool.ts`). A word with one inside is still that word.
    .replace(/\\u(?:[0-9a-f]{4}|\{[0-9a-f]{5,6}\})|[\p{M}\p{Cf}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_CHARACTERS);
  if (!saysItReads && NO_WAY_BACK.test(text)) return 'its description says that it cannot be undone';
  for (const sentence of text.split(/(?<=[.!?]) /)) {
    const found = PHRASES.find(
      ({ word, pattern, isAboveName }) =>
        (!saysItReads || isAboveName === true) && word.test(sentence) && isSaid(sentence, pattern),
    );
    if (found !== undefined) return `its description says ${found.says}`;
  }
  return undefined;
}

function isSaid(sentence: string, pattern: RegExp): boolean {
  return [...sentence.matchAll(pattern)].some(
    ({ 0: words, index }) =>
      !NOT_SO_BEFORE.test(sentence.slice(0, index)) && !NOT_SO_AFTER.test(sentence.slice(index + words.length)),
  );
}
