import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** An environment variable by which the guard finds a process whose pid it does not know yet. */
export const MARK_VARIABLE = 'CODEMODE_STARTED';

/**
 * Reads `? MARK`, `+ GROUP` and `- GROUP`. Its stdin ends when the host is gone for any reason; then it kills the remaining groups.
 * A group keeps its number as long as it has members, so a process with this number and another start time belongs to somebody
 * else, and is left alone.
 *
 * A host that was killed while it started a process has announced the process but not its pid. Such a process is searched by the
 * mark in its environment, for as long as it may take to appear. No other process has a mark that is still expected.
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
  for file in $(grep -lF "${MARK_VARIABLE}=$expected" /proc/[0-9]*/environ); do
    if tr '\\0' '\\n' < "$file" | grep -qx "${MARK_VARIABLE}=$expected"; then
      group=\${file#/proc/}
      kill -KILL "-\${group%/environ}"
    fi
  done
done`;

/**
 * A process beside the host that ends its servers if the host cannot. After SIGKILL, by a person or the OOM killer, nothing in the
 * host runs any more, and a server that ignores the end of its stdin would live on.
 *
 * It is a shell: it starts in a millisecond and takes less than a megabyte. On a machine without one, only the host ends its
 * servers.
 */
export class StdioGuard {
  #process: ChildProcess | undefined;

  /** A process is about to be started with this mark. The next message is its pid, or that there is none. */
  expect(mark: string, living: Iterable<number>): void {
    if (this.#process === undefined) this.#start(living);
    this.#tell(`? ${mark}\n`);
  }

  /** `living`: the groups to watch from now on, if the guard has to be started. */
  add(group: number, living: Iterable<number>): void {
    if (this.#process === undefined) this.#start(living);
    else this.#tell(`+ ${group}\n`);
  }

  remove(group: number): void {
    this.#tell(`- ${group}\n`);
  }

  /** The guard exits by itself, after it has ended the remaining groups. */
  close(): void {
    this.#process?.stdin?.end();
    this.#process = undefined;
  }

  #start(living: Iterable<number>): void {
    // Its own session: signals to the host's group, or from its terminal, must not reach it.
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
    // The guard must not keep the host alive.
    started.unref();
    (started.stdin as Socket).unref();
    this.#process = started;
    for (const group of living) this.#tell(`+ ${group}\n`);
  }

  #tell(line: string): void {
    if (this.#process?.stdin?.writable === true) this.#process.stdin.write(line);
  }
}
