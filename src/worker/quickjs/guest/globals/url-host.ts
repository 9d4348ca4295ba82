// The host parser of the URL standard. Hosts are kept in their serialised form: no rule needs another form.
import { domainToAscii } from './idna.js';
import { C0_CONTROL_SET, percentDecode, percentEncode } from './percent-encoding.js';

/** Names that need no processing: the common case, in one match. A last label that starts with a digit may be a number. */
const PLAIN_DOMAIN = /^(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*$/;
const FORBIDDEN_IN_HOST = /[\0\t\n\r #/:<>?@[\\\]^|]/;
const FORBIDDEN_IN_DOMAIN = /[\0-\x20#%/:<>?@[\\\]^|\x7f]/;

/** The serialised host; undefined if the standard fails. `isSpecial`: whether the URL's scheme is special. */
export function parseHost(input: string, isSpecial: boolean): string | undefined {
  if (isSpecial && PLAIN_DOMAIN.test(input) && !input.includes('xn--')) return input;
  if (input.startsWith('[')) return input.endsWith(']') ? parseIpv6(input.slice(1, -1)) : undefined;
  if (!isSpecial) return FORBIDDEN_IN_HOST.test(input) ? undefined : percentEncode(input, C0_CONTROL_SET);
  const ascii = domainToAscii(percentDecode(input));
  if (ascii === undefined || ascii === '' || FORBIDDEN_IN_DOMAIN.test(ascii)) return undefined;
  return endsInNumber(ascii) ? parseIpv4(ascii) : ascii;
}

function endsInNumber(domain: string): boolean {
  return /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)\.?$/.test(domain);
}

function parseIpv4(domain: string): string | undefined {
  const parts = domain.split('.');
  if (parts.at(-1) === '') parts.pop();
  if (parts.length > 4) return undefined;
  let address = 0;
  for (const [index, part] of parts.entries()) {
    const number = parseIpv4Number(part);
    const isLast = index === parts.length - 1;
    if (number === undefined || number >= (isLast ? 256 ** (4 - index) : 256)) return undefined;
    address += isLast ? number : number * 256 ** (3 - index);
  }
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}

function parseIpv4Number(part: string): number | undefined {
  if (/^0x[0-9a-f]*$/.test(part)) return part === '0x' ? 0 : Number.parseInt(part, 16);
  if (/^0[0-7]*$/.test(part)) return Number.parseInt(part, 8);
  return /^[1-9][0-9]*$/.test(part) ? Number.parseInt(part, 10) : undefined;
}

function parseIpv6(input: string): string | undefined {
  const halves = input.split('::');
  if (halves.length > 2) return undefined;
  const head = parsePieces(halves[0] as string, halves.length === 1);
  const tail = halves.length === 2 ? parsePieces(halves[1] as string, true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  // '::' stands for at least one piece, and without it there must be all eight.
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  return `[${serialiseIpv6([...head, ...new Array<number>(missing).fill(0), ...tail])}]`;
}

/** Pieces between colons. Only the last piece of an address may be a dotted IPv4 address, which counts as two. */
function parsePieces(text: string, mayEndInIpv4: boolean): number[] | undefined {
  if (text === '') return [];
  const pieces: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      pieces.push(Number.parseInt(part, 16));
      continue;
    }
    const octets = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(part)?.slice(1);
    if (octets === undefined || !mayEndInIpv4 || index !== parts.length - 1) return undefined;
    if (octets.some((octet) => Number(octet) > 255 || (octet.length > 1 && octet.startsWith('0')))) return undefined;
    const [a, b, c, d] = octets.map(Number) as [number, number, number, number];
    pieces.push(a * 256 + b, c * 256 + d);
  }
  return pieces;
}

function serialiseIpv6(pieces: readonly number[]): string {
  let longestAt = -1;
  let longest = 1;
  for (let start = 0; start < 8; start++) {
    let end = start;
    while (end < 8 && pieces[end] === 0) end++;
    if (end - start > longest) {
      longest = end - start;
      longestAt = start;
    }
  }
  const hex = (from: number, to?: number) =>
    pieces
      .slice(from, to)
      .map((piece) => piece.toString(16))
      .join(':');
  return longestAt < 0 ? hex(0) : `${hex(0, longestAt)}::${hex(longestAt + longest)}`;
}
