/**
 * Exactly this host, or one below a name that is granted with `*.` before it; a wildcard is covered by a wider one. None
 * ever means an address.
 */
export function coversHost(granted: string, host: string): boolean {
  const [pattern, name] = [granted.toLowerCase(), host.toLowerCase().replace(/\.$/, '')];
  if (!pattern.startsWith('*.')) return pattern === name;
  const below = pattern.slice(1);
  return !ADDRESS.test(name) && name.length > below.length && name.endsWith(below);
}

const ADDRESS = /^[\d.]+$|:/;

/** Whether a path is granted by a folder or is that path. Both are absolute and real: links and `..` are gone. */
export function coversPath(granted: string, path: string): boolean {
  const folder = granted.endsWith('/') ? granted : `${granted}/`;
  return path === granted || path.startsWith(folder);
}
