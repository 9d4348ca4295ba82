import { spawn } from 'node:child_process';
import type { Environment } from '../../config/variables/environment.js';

/**
 * Opens an address in the person's own browser. The address is partly an authorization server's, so foreign: it is
 * https or http and nothing else, it is one argument of a program that is started without a shell, and it never begins
 * with a dash (CVE-2025-6514 was an address that a shell read).
 *
 * False where there is no browser to open, or it could not be started; nobody waits for it to end.
 */
export async function openBrowser(url: URL, environment: Environment, platform: NodeJS.Platform): Promise<boolean> {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return false;
  const opener = openerFor(environment, platform);
  if (opener === undefined) return false;
  const [command, ...words] = opener;
  const child = spawn(command, [...words, url.href], { stdio: 'ignore', detached: true, shell: false });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

function openerFor(environment: Environment, platform: NodeJS.Platform): readonly [string, ...string[]] | undefined {
  if (platform === 'darwin') return ['open'];
  // Not `cmd /c start`: that is a shell, and reads `&` in an address.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  const hasScreen = [environment.DISPLAY, environment.WAYLAND_DISPLAY].some(
    (each) => each !== undefined && each !== '',
  );
  return hasScreen ? ['xdg-open'] : undefined;
}
