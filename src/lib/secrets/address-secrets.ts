import { MASK } from './mask.js';
import { looksRandom } from './secret-values.js';

/** Shorter parts (`1`, `v2`) are not secrets, and masking them would make every message unreadable. */
const MIN_PART_CHARACTERS = 3;

/**
 * The parts of an address that must not be shown: user or password, parameter values, the fragment, and the path segments that are
 * keys. Many services give out addresses that are the key themselves.
 */
export function secretsOfAddress(address: string): string[] {
  const url = parsed(address);
  if (url === undefined) return [];
  const parts = [
    url.password === '' ? url.username : url.password,
    ...url.searchParams.values(),
    // As written: the decoded form may not occur in the address.
    ...[...url.search.matchAll(/[?&][^=&]*=([^&]*)/g)].map(([, value = '']) => value),
    url.hash.slice(1),
    ...url.pathname.split('/').filter(isKey),
  ];
  const forms = parts.flatMap((part) => [part, decoded(part)]);
  return [...new Set(forms)].filter((part) => part.length >= MIN_PART_CHARACTERS);
}

/** The path segments of an address that are keys, as written. */
export function keysInPath(address: string): string[] {
  return parsed(address)?.pathname.split('/').filter(isKey) ?? [];
}

/** The address without its secrets. A text that is not an address is returned unchanged. */
export function maskAddress(address: string): string {
  const url = parsed(address);
  if (url === undefined) return address;
  const before = url.href;
  if (url.password !== '') url.password = MASK;
  else if (url.username !== '') url.username = MASK;
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, MASK);
  if (url.hash.length > 1) url.hash = MASK;
  const steps = url.pathname.split('/');
  if (steps.some(isKey)) url.pathname = steps.map((step) => (isKey(step) ? MASK : step)).join('/');
  return url.href === before ? address : url.href;
}

function parsed(address: string): URL | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(address) && URL.canParse(address) ? new URL(address) : undefined;
}

function isKey(step: string): boolean {
  return looksRandom(step) || looksRandom(decoded(step));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
