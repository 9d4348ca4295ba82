/** Words in tool names, by meaning. Mostly English, with a few of other languages that tool names contain. */

/** Data loss, money and messages: words that always count, wherever they stand. */
export const ALWAYS = wordSet(`
  delete del remove destroy erase purge wipe truncate unlink rm rmdir expunge prune nuke obliterate eradicate shred
  discard teardown mkfs flushall flushdb droptable
  send publish unpublish
  pay buy sell withdraw spend donate remit disburse reimburse liquidate wager
  revoke terminate shutdown poweroff reboot overwrite uninstall evict deactivate decommission
  supprimer effacer envoyer payer acheter executer
  eliminar borrar enviar pagar comprar ejecutar
  loschen loeschen senden bezahlen kaufen ausfuhren ausfuehren
  excluir apagar deletar executar eliminare cancellare inviare pagare comprare eseguire
  verwijderen verzenden betalen uitvoeren
`);

/** Running code that the caller writes. No other word of a name excuses these: `monitor_exec`, `read_exec_cmd`. */
export const EXECUTION = wordSet('exec execute cmd popen sudo subprocess ipython osascript');

/** Nouns: creating or performing one is an action, reading one is not. */
export const THINGS = wordSet(`
  payment transfer refund charge order transaction donation payout purchase checkout topup bid deposit withdrawal trade
  tweet broadcast trash drop kill ban
`);

/** Verbs that are nouns just as often: `merge_branches`, but `create_merge_request`. */
export const ACTS = wordSet(`
  email mail sms post reply forward merge deploy grant reset restore rollback cancel cleanup clear impersonate
  notify dm fax stake unstake
`);

/** If a name begins with one of these, the next word is the verb: `mail_list_folders`, `order_get`. */
export const NOUNS = wordSet(
  'email mail sms post deploy merge payment transfer refund charge order transaction checkout trade fax dm stake',
);

/** Data loss counts, whatever the name ends with: `clear_history`. */
export const LOSSES = wordSet('clear cleanup reset restore rollback cancel drop trash kill ban');

/** Verbs that only read what follows, even if that is a shell: `describe_shell`. */
export const LOOKING_AT = wordSet(`
  get list search find describe show count lookup retrieve inspect explain validate is has
  preview estimate quote compare analyze analyse history summarize summarise
  browse simulate calculate detect
`);

/** Verbs that read, but just as often precede a command to run: `query_sql`, `read_shell`, `check_cmd`. */
const READING = wordSet('read fetch query check view status watch monitor download export track');

export const LOOKING: ReadonlySet<string> = new Set([...LOOKING_AT, ...READING]);

/** A name with this ending is about an action, and does not perform it: `deploy_status`, `order_history`. */
export const LOOKING_TAIL = wordSet('reader viewer status history stats statistics count schema');

export const MAKING = wordSet('create update add edit generate make render set new draft change modify');

/** Neighbouring words that make a word harmless. */
export const HARMLESS: Readonly<
  Record<string, { readonly before?: string; readonly after?: string; readonly any?: string }>
> = {
  checkout: { any: 'git branch branches commit ref worktree repo repository file files svn' },
  forward: { before: 'port go scroll' },
  order: { before: 'sort tab display column row field', after: 'by' },
  transaction: { before: 'begin start commit', any: 'db database sql' },
  transfer: { after: 'issue issues file files folder folders collection request responses call task ticket data' },
  drop: { after: 'down zone', before: 'drag and' },
  clear: { after: 'cache selection screen filter working' },
  restore: { before: 'un' },
};

/** Two words in this order within the name. */
export interface WordPair {
  readonly verbs: ReadonlySet<string>;
  readonly objects: ReadonlySet<string>;
  /** What makes it harmless: a verb such as `get` before it; any reading word anywhere; or a creating word too. */
  readonly excuse: 'looked at' | 'looking' | 'looking or making';
}

const SHELLS = 'shell bash zsh sh powershell pwsh terminal console repl';
const LANGUAGES = 'python javascript js typescript ruby perl php lua sql applescript osascript';
const OPERATORS = 'docker podman container containers pod pods npm npx yarn pnpm bun deno node make ssh lambda ansible';

export const PAIRS: readonly WordPair[] = [
  // Programs, shells and statements that the caller writes.
  pair(
    'run invoke spawn inject eval evaluate interpret do',
    `command commands cmd code script scripts ${SHELLS} ${LANGUAGES} statement statements snippet program subprocess
     process cell macro migration migrations kubectl ansible playbook lambda`,
    'looked at',
  ),
  pair('invoke', 'function functions endpoint', 'looked at'),
  pair('apply', 'migration migrations manifest manifests yaml terraform', 'looked at'),
  pair(
    'start open launch write type interact',
    'shell bash zsh powershell cmd terminal repl subprocess process',
    'looked at',
  ),
  pair('write read query fetch view db database raw', 'sql', 'looked at'),
  pair('write', 'query queries statement', 'looked at'),
  pair('sql', 'query command statement', 'looking or making'),
  pair(
    'code command script shell python javascript sql',
    'run runner exec execute execution interpreter eval',
    'looked at',
  ),
  pair(
    `${SHELLS} ssh os system remote host kubectl docker redis adb`,
    'command commands cmd script',
    'looking or making',
  ),
  pair(OPERATORS, 'run exec playbook', 'looking or making'),
  pair('terraform tofu pulumi kubectl kubernetes helm', 'apply up install upgrade rollout', 'looking or making'),
  pair('tekton', 'start restart run', 'looking'),
  pair('system', 'call', 'looking or making'),
  // Data loss.
  pair('git', 'clean push', 'looking'),
  pair('docker image npm', 'push', 'looking'),
  pair('push', 'file files commit commits branch remote origin image notification notifications', 'looking or making'),
  pair('format', 'disk disks drive partition volume filesystem', 'looking'),
  pair('tear shut', 'down', 'looking'),
  pair('close', 'account accounts', 'looking'),
  pair('flush', 'all db database', 'looking'),
  pair('manage rotate', 'credential credentials secret secrets', 'looking'),
  // Money.
  pair(
    'book reserve rent hire',
    'flight flights hotel room table ticket tickets appointment trip ride car seat stay tour taxi',
    'looking',
  ),
  pair('create make add new confirm', 'booking reservation', 'looking'),
  pair('create start buy new upgrade renew', 'subscription membership', 'looking'),
  pair('subscribe', 'plan premium tier membership subscription', 'looking'),
  pair('top', 'up', 'looking'),
  pair('wire move', 'money funds', 'looking'),
  pair('swap bridge mint burn', 'token tokens coin coins asset assets crypto eth usdc funds', 'looking'),
  pair('make place start', 'call bet', 'looking'),
  // Messages.
  pair(
    'message text call dial',
    'user users customer customers contact contacts everyone all team member members people person phone number group',
    'looking or making',
  ),
  pair('whatsapp telegram slack discord direct imessage', 'message', 'looking or making'),
  pair('make go', 'public live', 'looking'),
];

/** One-word names that give access to a shell or an interpreter, or spend money. */
export const ALONE = wordSet(`
  shell bash zsh sh powershell pwsh cmd terminal repl python javascript sql command ssh eval evaluate system interpreter
  kubectl docker terraform helm gcloud ansible systemctl jupyter
  book subscribe reserve stake swap bridge bet
`);

/** The same at the end of a longer name: `puppeteer_evaluate`, `mcp_bash`. */
export const AT_THE_END = wordSet(
  'shell bash zsh powershell pwsh terminal repl eval evaluate kubectl gcloud systemctl',
);

/** Objects after a verb in names without separators: `droptable`, `paybill`. */
const OBJECTS = wordSet(`
  file files table tables user users bill bills all database row rows record records data money message messages account
  accounts item items folder directory everything invoice tokens repo branch phone number disk
`);

/** All words that a name without separators is split into. Short ones would be found in any word. */
export const VOCABULARY: ReadonlySet<string> = new Set(
  [
    ALWAYS,
    EXECUTION,
    THINGS,
    ACTS,
    LOOKING,
    MAKING,
    OBJECTS,
    ALONE,
    ...PAIRS.flatMap((each) => [each.verbs, each.objects]),
  ]
    .flatMap((words) => [...words])
    .filter((word) => word.length > 2),
);

/** Words that only look like two of ours joined. */
export const WHOLE = wordSet('postcode postscript typescript javascript checkout subprocess broadcast');

function pair(verbs: string, objects: string, excuse: WordPair['excuse']): WordPair {
  return { verbs: wordSet(verbs), objects: wordSet(objects), excuse };
}

export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
