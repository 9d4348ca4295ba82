/**
 * What a tool's name says that the tool does. Its server chose the name, so the name can make things stricter and never
 * looser: a tool called `get_weather` may still do anything.
 */
export type NameVerdict =
  | { readonly isDangerous: false /** The name says that the tool only reads. */; readonly saysItReads?: true }
  | { readonly isDangerous: true; readonly reason: string };

/** No real tool comes near; a longer one hides something at its end. */
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
  const clauses = clausesOf(parts.flatMap(humpsOf));
  const word =
    first(clauses, actOf) ??
    // The whole part as well, because case can be played with: dElEtEfIlE.
    parts.map((part) => part.toLowerCase()).find((part) => ALWAYS.has(part) || isRunOn(part));
  if (word !== undefined) return { isDangerous: true, reason: `its name says "${word}"` };
  return { isDangerous: false, ...(clauses.every((words) => words.some(isLooking)) ? { saysItReads: true } : {}) };
}

/** A Latin letter beside one that is not: `dеlete` with a Cyrillic е. */
function mixesAlphabets(part: string): boolean {
  return /[a-z]/i.test(part) && /[^a-z]/i.test(part);
}

/** Loss, money and messages: words that mean it wherever they stand. */
const ALWAYS = wordSet(`
  delete remove destroy erase purge wipe truncate unlink rm rmdir expunge
  send publish
  pay buy sell withdraw spend donate remit disburse reimburse
  revoke terminate shutdown reboot overwrite uninstall evict deactivate decommission
`);

/** Things: making one, or doing it, is the act; looking at one is not. */
const THINGS = wordSet(`
  payment transfer refund charge order transaction donation payout purchase checkout topup bid deposit withdrawal trade
  tweet broadcast trash drop kill ban
`);

/** Verbs that are nouns as often: `merge_branches`, but `create_merge_request`. */
const ACTS = wordSet(`
  email mail sms post reply forward merge deploy grant reset restore rollback cancel cleanup clear impersonate
  exec execute sudo
`);

/** Where a name begins with one of these, the next word says what is done: `mail_list_folders`, `order_get`. */
const NOUNS = wordSet(
  'email mail sms post deploy merge payment transfer refund charge order transaction checkout trade',
);

/** Loss is loss, whatever the name ends with: `clear_history`. */
const LOSSES = wordSet('clear cleanup reset restore rollback cancel drop trash kill ban');

const LOOKING = wordSet(`
  get list search find read describe fetch show count query check view lookup retrieve inspect explain validate is has
  preview estimate quote compare analyze analyse status history watch monitor download export summarize summarise
  browse track simulate calculate detect
`);

/** A name that ends so is about something, and does not do it: `deploy_status`, `order_history`. */
const LOOKING_TAIL = wordSet('reader viewer status history stats statistics count schema');

const MAKING = wordSet('create update add edit generate make render set new draft change modify');

/** What a word is not meant of, by the words beside it. */
const HARMLESS: Readonly<Record<string, { readonly before?: string; readonly after?: string; readonly any?: string }>> =
  {
    checkout: { any: 'git branch branches commit ref worktree repo repository file files svn' },
    forward: { before: 'port go scroll' },
    order: { before: 'sort tab display column row field', after: 'by' },
    transaction: { before: 'begin start commit', any: 'db database sql' },
    transfer: { after: 'issue issues file files folder folders collection request responses call task ticket data' },
    drop: { after: 'down zone', before: 'drag and' },
    clear: { after: 'cache selection screen filter working' },
    restore: { before: 'un' },
  };

/** A word that is an act here, because no verb before it says that it is only looked at, or only written about. */
function actOf(words: readonly string[]): string | undefined {
  const always = words.find((word) => ALWAYS.has(word) || isRunOn(word));
  if (always !== undefined) return always;
  const phrase = phraseOf(words);
  if (phrase !== undefined) return phrase;
  const endsInLooking = LOOKING_TAIL.has(words.at(-1) ?? '');
  let isMade = false;
  for (const [index, word] of words.entries()) {
    if (isLooking(word)) return undefined;
    const next = words[index + 1] ?? '';
    const isNoun = index === 0 && NOUNS.has(word) && (isLooking(next) || (MAKING.has(next) && !THINGS.has(word)));
    const isAct = THINGS.has(word) || (ACTS.has(word) && !isMade);
    const isOnlyShown = endsInLooking && !LOSSES.has(word);
    if (isAct && !isNoun && !isOnlyShown && !isHarmless(words, index)) return word;
    isMade ||= MAKING.has(word);
  }
  return undefined;
}

function isHarmless(words: readonly string[], index: number): boolean {
  const { before, after, any } = HARMLESS[words[index] as string] ?? {};
  const isOf = (list: string | undefined, word: string | undefined) =>
    list !== undefined && word !== undefined && list.split(' ').includes(word);
  return isOf(before, words[index - 1]) || isOf(after, words[index + 1]) || words.some((word) => isOf(any, word));
}

/** Programs, shells and statements that the caller writes; money by two words. In this order within the name. */
const PHRASES: readonly (readonly [verbs: string, objects: string])[] = [
  [
    'run invoke spawn inject eval evaluate interpret',
    `command commands cmd code script scripts shell bash zsh sh powershell terminal console python javascript js typescript
     ruby perl php lua sql statement statements snippet program subprocess process repl cell macro applescript osascript
     migration migrations`,
  ],
  ['apply', 'migration migrations'],
  ['start open launch write type interact', 'shell bash zsh powershell terminal repl subprocess process cmd'],
  ['write', 'query queries sql statement'],
  ['code command script shell python javascript sql', 'run runner exec execute execution interpreter eval'],
  [
    'book reserve rent hire',
    'flight flights hotel room table ticket tickets appointment trip ride car seat stay tour taxi',
  ],
  ['create make add new confirm', 'booking reservation'],
  ['create start buy new upgrade renew', 'subscription membership'],
  ['subscribe', 'plan premium tier membership subscription'],
  ['top', 'up'],
  ['make place start', 'call'],
];
const READ_PHRASES = PHRASES.map(([verbs, objects]) => [wordSet(verbs), wordSet(objects)] as const);

/** Names of one word that hand over a shell or an interpreter, or spend. */
const ALONE = wordSet(
  'shell bash zsh sh powershell cmd terminal repl python javascript sql command ssh eval evaluate book subscribe reserve',
);
/** The same at the end of a name: `puppeteer_evaluate`, `mcp_bash`. */
const AT_THE_END = wordSet('shell bash zsh powershell cmd terminal repl eval evaluate');

function phraseOf(words: readonly string[]): string | undefined {
  const looked = words.findIndex(isLooking);
  const [only] = words;
  if (words.length === 1 && only !== undefined && ALONE.has(only)) return only;
  const last = words.at(-1);
  if (LOOKING_TAIL.has(last ?? '')) return undefined;
  for (const [verbs, objects] of READ_PHRASES) {
    const at = words.findIndex((word) => verbs.has(word));
    const object = at < 0 ? undefined : words.slice(at + 1).find((word) => objects.has(word));
    if (object !== undefined && (looked < 0 || looked > at)) return `${words[at]} ${object}`;
  }
  const isMade = words.some((word) => MAKING.has(word));
  return looked < 0 && !isMade && last !== undefined && AT_THE_END.has(last) ? last : undefined;
}

function isLooking(word: string): boolean {
  return LOOKING.has(word);
}

/** `deletefile`, `dElEtEfIlE`: names without a gap. Not `deleted`, `sender`, `removing`: those are no orders. */
function isRunOn(word: string): boolean {
  return /^(delete|remove|destroy|erase|purge|send|terminate|uninstall|overwrite)(?!ing|ers)[a-z]{3,}/.test(word);
}

/** The humps of camelCase, in lower case. */
function humpsOf(part: string): string[] {
  if (part === '') return [];
  return part
    .replace(/(\p{Ll})(\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$3 $2')
    .toLowerCase()
    .split(' ');
}

/** `get_and_execute` says two things. */
function clausesOf(words: readonly string[]): readonly string[][] {
  const clauses: string[][] = [[]];
  for (const word of words) {
    if (word === 'and' || word === 'then') clauses.push([]);
    else clauses.at(-1)?.push(word);
  }
  return clauses.filter(({ length }) => length > 0);
}

function first<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
