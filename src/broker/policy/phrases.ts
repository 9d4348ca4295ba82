/**
 * What a tool's description says that the tool does, where its name does not. One word proves nothing ("lists deleted
 * items", "shows the command history"), so only whole phrases count. Like a name, a description can make things stricter
 * and never looser.
 */

/** What a description is about stands at its beginning; later text is advice, examples and limits. */
const MAX_CHARACTERS = 600;

interface Phrase {
  readonly says: string;
  readonly pattern: RegExp;
  /** Counts although the name says that the tool only reads. */
  readonly isAboveName?: true;
}

const CODE = String.raw`(?:(?:shell|bash|terminal|system|os|cli|console|powershell|ssh|python|javascript|js|typescript|node(?:\.js)?|ruby|raw) ){0,2}(?:commands?|scripts?|code|programs?)`;
const WHICH = `(?:(?:an?|the|any|one|your|some|given|provided|specified|custom|user-supplied|or|more) ){0,3}`;
const RUN = `(?:run|runs|running|execute|executes|executing|evaluate|evaluates|evaluating)`;

const PHRASES: readonly Phrase[] = [
  {
    says: 'that it runs arbitrary commands or code',
    pattern: new RegExp(
      String.raw`\b${RUN} ${WHICH}(?:arbitrary|any) ${CODE}\b|\barbitrary (?:code|command) execution\b`,
      'i',
    ),
    isAboveName: true,
  },
  {
    says: 'that it runs commands or code',
    pattern: new RegExp(String.raw`\b${RUN} ${WHICH}${CODE}\b|\b${RUN} (?:javascript|python|bash)\b`, 'i'),
  },
  {
    says: 'that it runs SQL that writes',
    // Without the i flag for the statements: "insert", "update" and "delete" are words of every other description.
    pattern:
      /\b(?:INSERT|UPDATE|DELETE|DROP|ALTER|TRUNCATE)\b[^.]{0,60}\b(?:INSERT|UPDATE|DELETE|DROP|ALTER|TRUNCATE)\b/,
    isAboveName: true,
  },
  {
    says: 'that it runs SQL that writes',
    pattern: new RegExp(
      String.raw`\b${RUN} ${WHICH}(?:(?:arbitrary|any|raw) sql|sql (?:query|queries|statements?|commands?)|sql\b)|\b(?:dml|ddl|write|writing|modifying) (?:statements?|queries|query)\b`,
      'i',
    ),
    isAboveName: true,
  },
  {
    says: 'that it deletes',
    pattern:
      /^(?:this tool )?(?:deletes?|removes?|erases?|destroys?|wipes?|purges?|drops?) |\bpermanently (?:delet|remov|eras|destroy)/i,
  },
  {
    says: 'that it sends',
    pattern:
      /^(?:this tool )?sends? (?:an? |the |new |direct )*(?:e-?mails?|mails?|messages?|sms|texts?|notifications?|invitations?|faxe?s?)\b/i,
  },
  {
    says: 'that it spends money',
    pattern:
      /^(?:this tool )?(?:purchases?|buys?|pays?|donates?) |\b(?:transfers?|sends?|withdraws?) (?:money|funds)\b|\bplaces? an? (?:\w+ )?order\b|\b(?:charges?|debits?) (?:the|your|a|their) (?:\w+ )?(?:card|account|customer|wallet)\b|\bspends? (?:real )?money\b/i,
  },
];

/** What a phrase does not mean when it stands behind one of these, in the same sentence. */
const NOT_SO =
  /\b(?:not|never|no|cannot|can't|won't|doesn't|without|only select|read-only|readonly|how to|instead of|rather than|unlike|prevents?|blocks?|rejects?|refuses?|forbids?|disallows?|rejected|forbidden|except|before (?:you )?(?:run|execut)\w*|examples? of)\b/i;

const NO_WAY_BACK = /\b(?:cannot|can not|can't) be (?:undone|reversed)\b|\bis irreversible\b/i;

/** The reason to ask, or `undefined`. `saysItReads`: the name says that the tool only looks. */
export function judgeDescription(description: string, saysItReads: boolean): string | undefined {
  const text = description
    .slice(0, 4 * MAX_CHARACTERS)
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_CHARACTERS);
  if (!saysItReads && NO_WAY_BACK.test(text)) return 'its description says that there is no way back';
  for (const sentence of text.split(/(?<=[.!?]) /)) {
    if (NOT_SO.test(sentence)) continue;
    const phrase = PHRASES.find(
      ({ pattern, isAboveName }) => (!saysItReads || isAboveName === true) && pattern.test(sentence),
    );
    if (phrase !== undefined) return `its description says ${phrase.says}`;
  }
  return undefined;
}
