/**
 * Whether the grant names exactly this host, or a parent domain with `*.` before it. A wildcard is covered by a wider one. No
 * wildcard ever covers an IP address.
 */
export function coversHost(granted: string, host: string): boolean {
  const [pattern, name] = [granted.toLowerCase(), host.toLowerCase().replace(/\.$/, '')];
  if (!pattern.startsWith('*.')) return pattern === name;
  const below = pattern.slice(1);
  return !ADDRESS.test(name) && name.length > below.length && name.endsWith(below);
}

const ADDRESS = /^[\d.]+$|:/;

/** Whether the grant is this path or a folder that contains it. Both are absolute, with links and `..` resolved. */
export function coversPath(granted: string, path: string): boolean {
  const folder = granted.endsWith('/') ? granted : `${granted}/`;
  return path === granted || path.startsWith(folder);
}
