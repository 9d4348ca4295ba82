import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const COLLECTION = '/org/freedesktop/secrets/collection/login';

export type Desktop = Awaited<ReturnType<typeof startDesktop>>;

/** As much of a desktop as a keyring needs: a session bus of its own and GNOME's keyring on it, unlocked, in its own home. */
export async function startDesktop() {
  const home = mkdtempSync(join(tmpdir(), 'codemode-desktop-'));
  const runtime = join(home, 'runtime');
  mkdirSync(runtime, { mode: 0o700 });
  const bus = `unix:path=${runtime}/bus`;
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    XDG_RUNTIME_DIR: runtime,
    XDG_DATA_HOME: home,
    DBUS_SESSION_BUS_ADDRESS: bus,
  };
  const settings = join(home, 'bus.conf');
  writeFileSync(settings, busSettings(bus));
  const daemon = spawn('dbus-daemon', [`--config-file=${settings}`, '--nofork', '--nopidfile', '--print-address'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(daemon.stdout as NonNullable<typeof daemon.stdout>, 'data');
  let keyring = await startKeyring(environment);
  const send = async (path: string, member: string, ...words: string[]) => {
    const command = ['--session', '--print-reply', '--dest=org.freedesktop.secrets', path, member, ...words];
    return (await promisify(execFile)('dbus-send', command, { env: environment })).stdout;
  };
  return {
    environment,
    keyring: { bus, userId: process.getuid?.() ?? 0 },
    lock: () => send('/org/freedesktop/secrets', 'org.freedesktop.Secret.Service.Lock', `array:objpath:${COLLECTION}`),
    /** How many secrets are in it. */
    count: async () => {
      const reply = await send(
        COLLECTION,
        'org.freedesktop.DBus.Properties.Get',
        'string:org.freedesktop.Secret.Collection',
        'string:Items',
      );
      return reply.match(/object path/g)?.length ?? 0;
    },
    stopKeyring: () => stop(keyring),
    startKeyring: async () => {
      keyring = await startKeyring(environment);
    },
    /** GNOME's own daemon gives up now and then when many speak to it at once. */
    reviveKeyring: async () => {
      if (keyring.exitCode !== null || keyring.signalCode !== null) keyring = await startKeyring(environment);
    },
    [Symbol.asyncDispose]: async () => {
      await stop(keyring);
      await stop(daemon);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** A session bus that starts nothing by itself: a keyring that it started would be a locked one. */
const busSettings = (address: string) => `<busconfig>
  <type>session</type>
  <listen>${address}</listen>
  <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
</busconfig>
`;

/** Unlocked with an empty password, as it is where somebody logs in without one. */
async function startKeyring(environment: Record<string, string>): Promise<ChildProcess> {
  const child = spawn('gnome-keyring-daemon', ['--foreground', '--unlock', '--components=secrets'], {
    env: environment,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin?.end('\n');
  const probe = ['--session', '--print-reply', '--dest=org.freedesktop.DBus', '/org/freedesktop/DBus'];
  const ask = [...probe, 'org.freedesktop.DBus.NameHasOwner', 'string:org.freedesktop.secrets'];
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const { stdout } = await promisify(execFile)('dbus-send', ask, { env: environment });
    if (stdout.includes('boolean true')) return child;
    await new Promise((resolve) => setTimeout(resolve, ATTEMPT_EVERY_MS));
  }
  await stop(child);
  throw new Error('the keyring did not start');
}

const MAX_ATTEMPTS = 200;
const ATTEMPT_EVERY_MS = 25;

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
