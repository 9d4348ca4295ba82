/** The steps that a request names, in order: one for each sentence, line or item, and for each verb joined by `and`. */
export function splitSteps(query: string): string[] {
  const steps = query
    .split(STEP_ENDS)
    .flatMap((sentence) => sentence.split(NEXT_VERB))
    .map((step) => step.trim())
    .filter((step) => step !== '');
  return steps.length <= MAX_STEPS ? steps : [...steps.slice(0, MAX_STEPS - 1), steps.slice(MAX_STEPS - 1).join(' ')];
}

/**
 * The steps that a request needs and does not name: a result has to be written to its target path, a file at another path has to be
 * read, `tomorrow` needs today's date, and places nearby are found by coordinates. Only a few, because each takes a rank from a
 * named step.
 */
export function impliedSteps(query: string): string[] {
  const saved = SAVED_TO.exec(query)?.[1];
  const steps = saved === undefined ? [] : [SAVING_BY_EXTENSION.get(extensionOf(saved) ?? '') ?? 'write file'];
  const given = query.match(PATHS)?.find((path) => path !== saved);
  if (given !== undefined) steps.push(readingOf(extensionOf(given)));
  if (RELATIVE_DATE.test(query)) steps.push('get current time date');
  if (PLACES.test(query)) steps.push('geocode address coordinates');
  return steps;
}

function readingOf(extension: string | undefined): string {
  if (extension === undefined) return 'list directory';
  return READING_BY_EXTENSION.get(extension) ?? 'read file';
}

/** `pdf` of `/reports/a.pdf`, undefined for a folder. */
export function extensionOf(path: string): string | undefined {
  return /\.([a-z0-9]{1,5})\.?$/i.exec(path)?.[1]?.toLowerCase();
}

const MAX_STEPS = 12;
const STEP_ENDS = /(?<=[.!?])\s+|[。！？；;\n]+|(?:^|\s)\d{1,2}[.)]\s|,?\s(?:and\s)?(?:then|afterwards|finally)\s/iu;
const VERBS =
  'get fetch retrieve read show view display list search find query look locate create make add generate build insert ' +
  'write save store put export update edit modify change set delete remove send post share publish submit run execute ' +
  'start launch trigger stop kill cancel close convert transform translate turn merge combine join split draw plot ' +
  'visualize render analyze summarize compare calculate compute check verify validate test move rename copy duplicate ' +
  'deploy install upload download import navigate go open click fill type take reply schedule plan book recommend ' +
  'suggest tell give provide explain email message notify commit push pull clone extract identify compile';
const NEXT_VERB = new RegExp(
  `(?:,\\s*(?:and\\s+|also\\s+)?|\\s(?:and|but)\\s+(?:also\\s+)?)(?=(?:${VERBS.replaceAll(' ', '|')})\\b)`,
  'iu',
);

const SAVED_TO =
  /\b(?:sav|writ|stor|export|report|output|document|page)\w*\b[^.;!?]{0,80}(?<![\w/])((?:~|\.{1,2})?\/[^\s,;'"]+)/iu;
const SAVING_BY_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['docx', 'create document'],
  ['pdf', 'create document convert pdf'],
  ['pptx', 'create save presentation'],
  ['xlsx', 'write excel sheet'],
]);
/** Excludes addresses, which are fetched. */
const PATHS = /(?<![\w/:])(?:~|\.{1,2})?\/[^\s,;'"]+/gu;
const READING_BY_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['docx', 'get document text'],
  ['pdf', 'read pdf'],
  ['pptx', 'open presentation'],
  ['xlsx', 'read excel sheet'],
  ['png', 'read image'],
  ['jpg', 'read image'],
  ['mp3', 'load audio'],
  ['wav', 'load audio'],
]);
const RELATIVE_DATE =
  /\b(?:today|tonight|tomorrow|yesterday|now|these days|near future|(?:next|this|last|coming) (?:\w+day|days?|weeks?|months?|year|weekend))\b/iu;
const PLACES =
  /\b(?:near|nearby|nearest|route|directions|trip|travel|commute|neighbou?rhood|radius|\d ?km|distance|walking|driving|meeting point|itinerary)\b/iu;
