/**
 * Other texts that a tool may read a text as. A path is resolved, however it is written; invisible characters may be ignored;
 * percent-escapes of a URL may be decoded.
 */

/** The readings of a text as a path. A rule that allows must hold for these too. */
export function readingsOf(text: string): readonly string[] {
  const plain = withoutHidden(decodeSteps(text));
  const readings = new Set([plain, resolveSteps(plain)]);
  readings.delete(text);
  return [...readings];
}

/** Further readings that a rule that restricts must consider: tools decode escapes, and many file systems ignore case. */
export function looseReadingsOf(text: string): readonly string[] {
  const strict = [text, ...readingsOf(text)];
  const decoded = strict.flatMap((each) => [each, resolveSteps(withoutHidden(decodeAll(each)))]);
  const paths = decoded.flatMap((each) => [each, each.replace(/^file:\/\/(?:localhost)?(?=\/)/i, '')]);
  const ended = paths.flatMap((each) => [each, each.trim(), each.replace(/(?<=[^/])\/+$/, '')]);
  const readings = new Set(ended.flatMap((each) => [each, each.toLowerCase()]));
  readings.delete(text);
  return [...readings];
}

/** Decodes escaped dots and slashes, also if they are escaped several times. */
function decodeSteps(text: string): string {
  return text.replace(/%(?:25){0,3}(2e|2f|5c)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function decodeAll(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function withoutHidden(text: string): string {
  return text.normalize('NFKC').replace(/[\p{Cf}\p{Cc}]/gu, (character) => (/\s/.test(character) ? character : ''));
}

const SCHEME_AND_HOST = /^[a-z][a-z0-9+.-]*:\/\/[^/\\]*/i;

/** `/tmp/../etc//x` to `/etc/x`. The scheme and host of a URL are not changed. */
function resolveSteps(text: string): string {
  if (!/\\|\/\/|(?:^|[/\\])\.{1,2}(?:[/\\]|$)/.test(text)) return text;
  const host = SCHEME_AND_HOST.exec(text)?.[0] ?? '';
  const path = text.slice(host.length).replaceAll('\\', '/');
  const isAbsolute = path.startsWith('/');
  const steps: string[] = [];
  for (const step of path.split('/')) {
    if (step === '' || step === '.') continue;
    if (step !== '..') steps.push(step);
    else if (steps.length > 0 && steps.at(-1) !== '..') steps.pop();
    else if (!isAbsolute) steps.push(step);
  }
  const isFolder = /(?:^|\/)\.{0,2}$/.test(path) && steps.length > 0;
  return `${host}${isAbsolute ? '/' : ''}${steps.join('/')}${isFolder ? '/' : ''}`;
}
