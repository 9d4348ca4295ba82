import { spawn } from 'node:child_process';
import type { Environment } from '../../config/variables/environment.js';

/**
 * Opens a URL in the user's browser. An authorization server supplies part of the URL, so it is foreign. Only https and http are
 * allowed, it is one argument of a program that is started without a shell, and it never begins with a dash (CVE-2025-6514 was a
 * URL that a shell interpreted).
 *
 * Returns false if there is no browser, or it could not be started. Nothing waits for it to exit.
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
  // Not `cmd /c start`: that is a shell, and interprets `&` in a URL.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  const hasScreen = [environment.DISPLAY, environment.WAYLAND_DISPLAY].some(
    (each) => each !== undefined && each !== '',
  );
  return hasScreen ? ['xdg-open'] : undefined;
}
