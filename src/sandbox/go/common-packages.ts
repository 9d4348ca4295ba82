/** Those that are compiled ahead of the first program, as far as a version of Go has them. */
export function commonPackages(version: string): readonly string[] {
  const minor = Number(/^go1\.(\d+)/.exec(version)?.[1]);
  return minor >= ITER_SINCE ? [...COMMON_PACKAGES, ...COMMON_IF_THERE] : COMMON_PACKAGES;
}

/** Packages that programs use most: compiled before the first one. Any other makes its first user wait. */
// biome-ignore format: a line per subject
const COMMON_PACKAGES = [
  'fmt', 'errors', 'context', 'strings', 'strconv', 'bytes', 'unicode', 'unicode/utf8', 'sort', 'math', 'math/rand',
  'time', 'sync', 'sync/atomic', 'io', 'bufio', 'os', 'log', 'regexp', 'reflect', 'path', 'path/filepath',
  'encoding/json', 'encoding/csv', 'encoding/base64', 'encoding/hex', 'encoding/xml', 'net/url', 'html', 'math/big',
  'crypto/sha256', 'crypto/sha1', 'crypto/md5', 'hash/fnv', 'container/heap', 'container/list', 'text/tabwriter',
  'text/template', 'runtime', 'runtime/debug',
];
const COMMON_IF_THERE = ['slices', 'maps', 'cmp', 'iter'];
/** Since 1.23 all of them are there. */
const ITER_SINCE = 23;
