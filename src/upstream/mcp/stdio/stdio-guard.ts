import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** In the environment of a process, from which the guard knows it while it does not know its number yet. */
export const MARK_VARIABLE = 'CODEMODE_STARTED';

/**
 * Reads `? MARK`, `+ GROUP` and `- GROUP`, and when its input ends, which it does when the host is gone for whatever reason, kills the
 * groups that are left. A group keeps its number as long as it has members, so a process that has this number and another
 * start time belongs to somebody else, and is left alone.
 *
 * A host that was killed while it started a process has announced it and not told its number: such a process is looked for by the mark in
 * its environment, for as long as it may take to get there. No other process has a mark that is still expected.
 */
const SCRIPT = `trap '' HUP INT TERM
born() {
  at=
  if [ -r "/proc/$1/stat" ]; then
    read -r at < "/proc/$1/stat"
    set -- \${at##*) }
    at=\${20}
  elif [ ! -d /proc/self ]; then
    at=$(ps -o lstart= -p "$1")
  fi
}
groups=
expected=
while read -r sign group; do
  expected=
  if [ "$sign" = '?' ]; then expected=$group; continue; fi
  others=
  for each in $groups; do
    [ "$each" = "$group" ] || others="$others $each"
  done
  groups=$others
  [ "$sign" = + ] || continue
  born "$group"
  eval "born_$group=\\$at"
  groups="$groups $group"
done
for group in $groups; do
  born "$group"
  eval "then=\\$born_$group"
  if [ -z "$at" ] || [ "$at" = "$then" ]; then kill -KILL "-$group"; fi
done
[ -n "$expected" ] || exit 0
for pause in 0 0.1 0.2 0.5 1 3; do
  sleep "$pause"
  for file in /proc/[0-9]*/environ; do
    if tr '\\0' '\\n' < "$file" | grep -qx "${MARK_VARIABLE}=$expected"; then
      group=\${file#/proc/}
      kill -KILL "-\${group%/environ}"
    fi
  done
done`;

/**
 * A process beside the host that ends its servers when the host cannot: after SIGKILL, by a person or for want of memory, nobody in
 * the host does anything any more, and a server that does not heed the end of its input would live on.
 *
 * A shell: it starts in a millisecond and takes less than a megabyte. Without one on the machine, servers are ended by the host alone.
 */
export class StdioGuard {
  #process: ChildProcess | undefined;

  /** A process is about to be started with this mark; the next thing that is told is its number, or that there is none. */
  expect(mark: string, living: Iterable<number>): void {
    if (this.#process === undefined) this.#start(living);
    this.#tell(`? ${mark}\n`);
  }

  /** `living`: those that it is to watch from now on; used where it has to be started. */
  add(group: number, living: Iterable<number>): void {
    if (this.#process === undefined) this.#start(living);
    else this.#tell(`+ ${group}\n`);
  }

  remove(group: number): void {
    this.#tell(`- ${group}\n`);
  }

  /** It ends by itself, with what it still has to end. */
  close(): void {
    this.#process?.stdin?.end();
    this.#process = undefined;
  }

  #start(living: Iterable<number>): void {
    // A session of its own: what is sent to the host's group, or by its terminal, is not for it.
    const started = spawn('/bin/sh', ['-c', SCRIPT], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: '/bin:/usr/bin' },
      cwd: '/',
      detached: true,
    });
    const gone = (): void => {
      if (this.#process === started) this.#process = undefined;
    };
    started.once('error', gone);
    started.once('exit', gone);
    started.stdin.on('error', gone);
    // Nobody stays for its sake.
    started.unref();
    (started.stdin as Socket).unref();
    this.#process = started;
    for (const group of living) this.#tell(`+ ${group}\n`);
  }

  #tell(line: string): void {
    if (this.#process?.stdin?.writable === true) this.#process.stdin.write(line);
  }
}
