import { RANKING } from './ranking.js';
import { termOf } from './tokenize.js';

/**
 * Words with the same meaning for a tool. Within a group each word finds the others, at `RANKING.synonym` of its own weight.
 * Grouped by what people ask of software in general; no group is specific to a server.
 */
const SYNONYMS: readonly string[] = [
  // verbs
  'get fetch retrieve read show view display obtain load open',
  'get list enumerate show browse',
  'search find query lookup discover locate look',
  'create make add new generate build insert',
  'write save store put export output',
  'write create edit',
  'update edit modify change set patch alter adjust',
  'delete remove drop destroy erase clear',
  'send post share deliver publish submit',
  'run execute start launch invoke trigger',
  'stop kill terminate end cancel abort close',
  'convert transform translate turn export format',
  'merge combine join concatenate',
  'split divide separate',
  'draw plot visualize visualise render paint drawing',
  'analyze analyse analysis examine assess evaluate inspect research',
  'summarize summarise summary overview abstract',
  'compare comparison diff difference',
  'calculate compute calculator math arithmetic',
  'check verify validate test',
  'move rename relocate transfer',
  'copy duplicate clone',
  'deploy install setup',
  'upload attach import',
  'navigate visit goto browse open go',
  'click tap press',
  'type enter fill input',
  'reply respond answer',
  'schedule plan arrange book',
  'recommend suggest advise recommendation',
  // things
  'directory folder dir',
  'file document doc',
  'image picture photo img png jpg jpeg',
  'screenshot capture snapshot picture',
  'video clip movie mp4',
  'audio music song sound wav mp3',
  'webpage website site page web url html',
  'link url hyperlink',
  'issue ticket bug',
  'email mail inbox',
  'database db sql table',
  'config configuration settings preferences option',
  'user person people member',
  'organization organisation org company',
  'company business corporation firm',
  'location place address position coordinates',
  'nearby near close around surrounding nearest',
  'route directions path way',
  'distance far',
  'price cost quote value',
  'stock share equity ticker',
  'crypto cryptocurrency bitcoin ethereum coin',
  'currency money forex exchange',
  'news headlines',
  'trending trend hot popular rank ranking top',
  'latest recent newest new current today',
  'time clock hour',
  'date day today tomorrow yesterday',
  'calendar schedule',
  'event appointment meeting',
  'weather forecast temperature',
  'paper publication article',
  'hotel accommodation lodging homestay apartment flat rental rent stay listing',
  'train rail railway',
  'recipe dish meal food cook',
  'presentation ppt pptx powerpoint slide slideshow deck',
  'spreadsheet excel xlsx csv sheet worksheet workbook',
  'word docx document',
  'javascript js script',
  'log logs output',
  'container docker',
  'package library dependency module lib',
  'version release',
  'comment remark',
  'chat conversation',
  'kubernetes k8s kubectl',
  'pipeline build ci',
  'notification alert reminder',
  'note memo',
  'diagram chart graph',
  'transcript subtitle caption',
  'todo task',
  'vulnerability security vulnerable',
  'secret credential password token',
  'parameter argument property attribute',
  'info information details metadata detail',
  'statistics stats metrics',
  'painting artwork art museum',
  'phone mobile device',
  'domain whois dns',
  'undo revert reset restore rollback',
  'enable activate',
  'disable deactivate',
  'archive backup',
  'subscribe follow watch',
  'filter select',
  'sort order rank',
  'monitor track watch',
  'extract parse scrape crawl',
  'download save',
  'explain describe',
  'authenticate login signin auth',
  'approve accept confirm',
  'reject decline deny refuse',
  'invite add',
  'count number amount total',
  'history historical past log',
  'status state health progress',
  'size length big',
  'duration long length',
  'altitude elevation height',
  'manager boss supervisor',
  'sprint cycle iteration',
  'employee staff person',
  'customer client contact crm',
  'invoice bill payment',
  'order purchase buy shopping shop',
  'product item goods',
  'hospital doctor medical health clinical',
  'flight airline plane',
  'restaurant eat dinner lunch',
  'car vehicle drive driving',
  'school education university',
  'lyrics song music',
  'game match player',
  'book novel reading',
  'language translation translate',
  'random dice shuffle',
  'icon logo symbol',
  'color colour',
  'timezone time zone',
  'meeting conference call',
  'group team',
  'channel room',
  'label tag category',
  'branch fork',
  'commit revision change',
  'server host machine',
  'function method',
  'error failure exception crash fail',
  'cpu memory usage resource',
  'terminal shell command bash console',
  'browser chrome page',
  'form field input',
  'chart plot diagram visualization',
  'income earnings revenue profit',
  'finance financial economic investment',
  'dataset data',
  'question problem challenge exercise',
  'replace substitute swap',
  'append add insert attach',
  'finish complete done end',
  'lock protect encrypt secure',
  'unlock unprotect decrypt',
  'fact observation knowledge',
  'connect relation relate link',
  'title heading headline header',
  'section paragraph chapter',
  'section heading',
  'style format design layout theme look',
  'mutation variant gene genetic genome',
  'study trial research experiment',
  'tempo beat rhythm bpm',
  'upcoming schedule coming next',
  'owner registrant whois',
  'quality score rating rate',
  'analyst recommendation rating',
  'maintain maintenance maintainer',
  'hierarchy organization structure tree',
  'break split divide',
  'fair midpoint middle',
  'discussion comment thread',
  'story post article',
  'video youtube',
  'bar column',
  'revenue sales',
  'symbol ticker code',
  'convert exchange',
  'dollar euro yen yuan currency',
  'departure timetable schedule',
  'ticket seat fare',
  'station stop',
  'attraction sightseeing tourist poi',
  'holiday festival',
  'horoscope zodiac fortune',
  'process task job',
  'wiki documentation docs',
  'tutorial guide documentation',
  'probability random',
  'distribution histogram',
  'proportion share pie percentage',
  'relationship network relation',
  'cause fishbone',
  'timeline history',
  'outline mindmap structure',
  'sketch draw paint drawing',
  'shape rectangle circle',
  'license licence',
  'alternative similar related',
  'dividend yield',
  'sentiment fear greed index',
  'gold silver metal',
  'author user profile',
  'abstract summary',
  'fulltext content text',
  'cite citation reference',
  'disease cancer clinical medical',
  'drug treatment therapy',
  'resume cv profile',
];

/** Short forms of one word. Either finds the other, at `RANKING.abbreviation`. */
const ABBREVIATIONS: readonly string[] = [
  'repo repository',
  'app application',
  'auth authentication',
  'admin administrator',
  'info information',
  'temp temperature',
  'pic picture',
  'vid video',
  'docs documentation',
  'spec specification',
  'cmd command',
  'pwd password',
  'prod production',
  'calc calculate',
  'ref reference',
  'desc description',
  'num number',
  'addr address',
  'lang language',
  'geo geographic',
  'img image',
  'msg message',
  'db database',
  'dir directory',
  'env environment',
  'config configuration',
  'org organization',
  'param parameter',
  'stats statistics',
  'js javascript',
  'k8s kubernetes',
  'md markdown',
  'txt text',
];

/** Short forms of several words: `PR` asks for `pull request`, and `pull request` finds `create_pr`. */
const ACRONYMS: ReadonlyMap<string, string> = new Map([
  ['pr', 'pull request'],
  ['ci', 'continuous integration'],
  ['ui', 'user interface'],
  ['ev', 'electric vehicle'],
  ['poi', 'point interest'],
]);

/** Words that express only the grammar or politeness of a request. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an the this that these those it its they them their i me my mine we us our you your he she his her who whom ' +
    'which what whats where when why how is are was were be been being am do does did doing done have has had having ' +
    'can could will would shall should may might must let lets please help want need like just so very too also only ' +
    'and or but if then than else of in on at to from for with by as into onto about over under up down out off per ' +
    'via between within through during before after again there here some any all each every both more most other ' +
    'such no not own same s t d ll re ve m tell give know im ive id dont whether using use based via'
  ).split(' '),
);

export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** A term that may replace another, and its relative weight. */
export interface Alternative {
  readonly term: string;
  readonly share: number;
}

/** The index terms that mean the same as this term, without the term itself. */
export function alternativesTo(term: string): readonly Alternative[] {
  alternatives ??= readGroups();
  return alternatives.get(term) ?? [];
}

/** The words that an acronym means, else none. */
export function longFormOf(word: string): readonly string[] {
  return ACRONYMS.get(word.replace(/s$/, ''))?.split(' ') ?? [];
}

/** The acronym of two neighbouring words, else undefined. */
export function acronymOf(word: string, next: string): string | undefined {
  return ACRONYM_OF_WORDS.get(`${word} ${next.replace(/s$/, '')}`);
}

const ACRONYM_OF_WORDS: ReadonlyMap<string, string> = new Map([...ACRONYMS].map(([short, long]) => [long, short]));
/** Built at the first search: it takes milliseconds, and most processes never search. */
let alternatives: ReadonlyMap<string, readonly Alternative[]> | undefined;

function readGroups(): Map<string, readonly Alternative[]> {
  const shares = new Map<string, Map<string, number>>();
  const read = (groups: readonly string[], share: number) => {
    for (const terms of groups.map((line) => line.split(' ').map(termOf))) {
      for (const term of terms) {
        const others = shares.get(term) ?? new Map<string, number>();
        for (const other of terms) if (other !== term) others.set(other, share);
        shares.set(term, others);
      }
    }
  };
  read(SYNONYMS, RANKING.synonym);
  read(ABBREVIATIONS, RANKING.abbreviation);
  return new Map(
    [...shares].map(([term, others]) => [term, [...others].map(([other, share]) => ({ term: other, share }))]),
  );
}
