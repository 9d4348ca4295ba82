import { lstat, readFile, realpath } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';

/** Who else can change something: through the mode bits of a file or folder, or because another user owns it. */
export interface OpenPlace {
  readonly path: string;
  readonly by: 'everybody' | 'its group' | 'its owner';
}

const GROUP_WRITES = 0o020;
const EVERYBODY_WRITES = 0o002;
const STICKY = 0o1000;

/**
 * The first place where another user of this machine could change what is at `path`: the file or folder itself, or a parent
 * folder in which it could be replaced. Root does not count as another user, nor does a group without other members.
 */
export async function writableByOthers(path: string): Promise<OpenPlace | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return undefined;
  for (let place = real; ; place = dirname(place)) {
    const { mode, uid, gid } = await lstat(place);
    // In a sticky folder users cannot replace each other's files, but they can still add new ones.
    const isGuarded = place !== real && (mode & STICKY) !== 0;
    if (!isGuarded && (mode & EVERYBODY_WRITES) !== 0) return { path: place, by: 'everybody' };
    if (!isGuarded && (mode & GROUP_WRITES) !== 0 && (await hasOtherMembers(gid)))
      return { path: place, by: 'its group' };
    if (uid !== 0 && uid !== process.getuid?.()) return { path: place, by: 'its owner' };
    if (dirname(place) === place) return undefined;
  }
}

/** Many systems give each user their own writable group. A group that cannot be looked up may have other members. */
async function hasOtherMembers(gid: number): Promise<boolean> {
  if (gid === 0) return false;
  try {
    const own = userInfo().username;
    const [users, groups] = await Promise.all(['/etc/passwd', '/etc/group'].map((file) => readFile(file, 'utf8')));
    const byPrimary = linesOf(users).flatMap(([name = '', , , group]) => (Number(group) === gid ? [name] : []));
    const listed = linesOf(groups).flatMap(([, , id, members = '']) => (Number(id) === gid ? members.split(',') : []));
    const isKnown = linesOf(groups).some(([, , id]) => Number(id) === gid);
    return !isKnown || [...byPrimary, ...listed].some((name) => name !== '' && name !== own && name !== 'root');
  } catch {
    return true;
  }
}

function linesOf(text = ''): string[][] {
  return text.split('\n').map((line) => line.split(':'));
}
