/**
 * What a tool's name says that the tool does. Its server chose the name, so the name can make things stricter and never
 * looser: a tool called `get_weather` may still do anything.
 */
export type NameVerdict = { readonly isDangerous: false } | { readonly isDangerous: true; readonly reason: string };

/** No real tool comes near; whoever writes a longer one hides something at its end. */
const MAX_NAME_CHARACTERS = 512;

export function judgeName(name: string): NameVerdict {
  if (name.length > MAX_NAME_CHARACTERS) return { isDangerous: true, reason: 'its name is too long to be read' };
  // Full-width, accented and invisible characters are other ways to write the same word.
  const parts = name
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .split(/[^\p{L}]+/u);
  if (parts.some(mixesAlphabets))
    return {
      isDangerous: true,
      reason: 'its name mixes alphabets, so that it can say something else than it seems to',
    };
  const words = parts.flatMap(wordsOf);
  const word = words.find((each) => HARMFUL.has(each) || isRunOn(each)) ?? actOf(words);
  return word === undefined ? { isDangerous: false } : { isDangerous: true, reason: `its name says "${word}"` };
}

/** A Latin letter beside one that is not: `dеlete` with a Cyrillic е. */
function mixesAlphabets(part: string): boolean {
  return /[a-z]/i.test(part) && /[^a-z]/i.test(part);
}

/** Loss, money and messages: words that mean it wherever they stand. */
const HARMFUL = wordSet(`
  delete remove drop destroy erase purge wipe truncate unlink rm rmdir trash expunge
  send publish broadcast tweet
  pay purchase buy withdraw checkout
  revoke terminate kill shutdown reboot overwrite uninstall ban evict deactivate decommission
`);

/** Money as a noun: making one moves money, looking at one does not. */
const MONEY = wordSet('payment transfer refund charge order transaction donation payout');

/** Verbs that are nouns as often: `merge_branches`, but `create_merge_request`. */
const ACTS = wordSet(`
  email mail sms post reply forward merge deploy grant reset restore rollback cancel exec execute cleanup clear impersonate
`);

const LOOKING = wordSet(`
  get list search find read describe fetch show count query check view lookup retrieve inspect explain validate is has
  preview estimate quote compare analyze analyse status history watch monitor download export summarize summarise
`);

const MAKING = wordSet('create update add edit generate make render set new draft change modify');

/** A word that is an act here, because no verb before it says that it is only looked at, or only written about. */
function actOf(words: readonly string[]): string | undefined {
  let isMade = false;
  for (const word of words) {
    if (LOOKING.has(word)) return undefined;
    if (MONEY.has(word) || (ACTS.has(word) && !isMade)) return word;
    isMade ||= MAKING.has(word);
  }
  return undefined;
}

/** `deletefile`, `dElEtEfIlE`: names without a gap. Not `deleted`, `sender`, `removing`: those are no orders. */
function isRunOn(word: string): boolean {
  return /^(delete|remove|destroy|erase|purge|send|terminate|uninstall|overwrite)(?!ing|ers)[a-z]{3,}/.test(word);
}

/** The humps of camelCase, and the whole as well, because case can be played with. */
function wordsOf(part: string): string[] {
  const humps = part.replace(/(\p{Ll})(\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$3 $2').toLowerCase();
  return humps.includes(' ') ? [...humps.split(' '), part.toLowerCase()] : [humps];
}

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
