import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LedgerHome } from '../../support/ledger.js';
import { skipped } from '../../support/needs.js';

/** A state folder on its own disk, which can be filled. */
class SmallDisk extends LedgerHome {
  readonly #mounted: boolean;

  constructor() {
    super();
    mkdirSync(this.path('state'));
    this.#mounted = mount(this.path('state'));
  }

  get isThere(): boolean {
    return this.#mounted;
  }

  fill(): void {
    try {
      writeFileSync(this.path('state', 'filler'), Buffer.alloc(64 * 1024 * 1024));
    } catch {
      // ENOSPC is what it is for.
    }
  }

  makeRoom(): void {
    rmSync(this.path('state', 'filler'));
  }

  override [Symbol.dispose](): void {
    if (this.#mounted) execFileSync('umount', ['-l', this.path('state')]);
    super[Symbol.dispose]();
  }
}

function mount(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

using probe = new SmallDisk();
const needsMount = probe.isThere ? {} : skipped('no file system can be mounted here');

const WRITE = `import { write } from '@codemode/servers/ledger';
globalThis.__codemode_result__ = await write({ text: 'x' }).then(({ did }) => did, (error) => error.message);`;

test(
  'with a full disk nothing is called, the program is told why, and the program after it too',
  needsMount,
  async () => {
    using home = new SmallDisk();
    await home.run(['--config', home.config, 'servers']);
    await home.pending();
    home.fill();
    for (let times = 0; times < 2; times++) {
      const { result } = await home.program(WRITE);
      expect(result).toMatch(/disk/);
    }
    expect(home.lines).toEqual([]);
  },
);

test('a state folder that is full or read-only is named from the first command on', needsMount, async () => {
  using home = new SmallDisk();
  const state = home.path('state');
  const said = async (...words: string[]) => {
    const { status, stderr } = await home.run(['--config', home.config, ...words], { input: WRITE });
    return [status, stderr];
  };
  home.fill();
  const full = [2, `codemode: the disk of the state folder ${state} is full; make room on it\n`];
  for (const words of [['run', '-'], ['runs'], ['mcp']]) expect(await said(...words)).toEqual(full);
  home.makeRoom();
  execFileSync('mount', ['-o', 'remount,ro', state]);
  const advice = 'make it writable, or set CODEMODE_HOME to another folder';
  const readOnly = [2, `codemode: the state folder ${state} cannot be written (EROFS); ${advice}\n`];
  for (const words of [['run', '-'], ['runs'], ['mcp']]) expect(await said(...words)).toEqual(readOnly);
});

test(
  'a run that is resumed on a full disk stays suspended, and is resumed once there is room',
  needsMount,
  async () => {
    using home = new SmallDisk();
    const { runId = '' } = await home.program(WRITE);
    const [approval] = await home.pending();
    await home.decide('approve', approval?.id ?? '');
    home.fill();
    const refused = await home.run(['--config', home.config, 'runs', 'resume', runId]);
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toMatch(/disk/);
    expect(home.lines).toEqual([]);
    home.makeRoom();
    expect(await home.resume(runId)).toMatchObject({ state: 'succeeded', response: { result: 'write' } });
    expect(home.lines).toEqual(['write x']);
  },
);
