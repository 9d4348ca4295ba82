/** The packages that are compiled ahead of the first program, limited to those that this version of Go has. */
export function commonPackages(version: string): readonly string[] {
  const minor = Number(/^go1\.(\d+)/.exec(version)?.[1]);
  return minor >= ITER_SINCE ? [...COMMON_PACKAGES, ...COMMON_IF_THERE] : COMMON_PACKAGES;
}

/**
 * The packages that programs use most, compiled before the first program. The first program that imports any other package waits
 * for it.
 */
// biome-ignore format: a line per subject
const COMMON_PACKAGES = [
  'fmt', 'errors', 'context', 'strings', 'strconv', 'bytes', 'unicode', 'unicode/utf8', 'sort', 'math', 'math/rand',
  'time', 'sync', 'sync/atomic', 'io', 'bufio', 'os', 'log', 'regexp', 'reflect', 'path', 'path/filepath',
  'encoding/json', 'encoding/csv', 'encoding/base64', 'encoding/hex', 'encoding/xml', 'net/url', 'html', 'math/big',
  'crypto/sha256', 'crypto/sha1', 'crypto/md5', 'hash/fnv', 'container/heap', 'container/list', 'text/tabwriter',
  'text/template', 'runtime', 'runtime/debug',
];
const COMMON_IF_THERE = ['slices', 'maps', 'cmp', 'iter'];
/** From Go 1.23 on, all of them exist. */
const ITER_SINCE = 23;
