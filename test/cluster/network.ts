import { execFileSync } from 'node:child_process';

/** A machine as far as the network goes: a namespace with one link, which can be cut. */
export interface Machine {
  readonly address: string;
  /** Words before a command that is to run on it. */
  readonly through: readonly string[];
  /** Packets vanish, in both directions, as with a cable that was pulled. Nobody is told. */
  cut(): void;
  heal(): void;
}

/**
 * Several machines on one switch, made of network namespaces. Only they and the test reach each other. The number keeps tests
 * that run at the same time apart.
 */
export class Network {
  readonly #id: number;
  readonly #machines: string[] = [];

  constructor(id = process.pid) {
    this.#id = id;
    ip('link', 'add', this.#bridge, 'type', 'bridge');
    ip('addr', 'add', `${this.#prefix}.1/24`, 'dev', this.#bridge);
    ip('link', 'set', this.#bridge, 'up');
  }

  add(): Machine {
    const number = this.#machines.length + 2;
    const name = `cm${this.#id}-${number}`;
    const near = `cm${this.#id % 100_000}n${number}`;
    const address = `${this.#prefix}.${number}`;
    ip('netns', 'add', name);
    this.#machines.push(name);
    ip('link', 'add', near, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('link', 'set', near, 'master', this.#bridge);
    ip('link', 'set', near, 'up');
    ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    for (const link of ['eth0', 'lo']) ip('-n', name, 'link', 'set', link, 'up');
    return {
      address,
      through: ['ip', 'netns', 'exec', name],
      // Taken off the switch, not switched off: a link that is down would tell the processes on it.
      cut: () => ip('link', 'set', near, 'nomaster'),
      heal: () => ip('link', 'set', near, 'master', this.#bridge),
    };
  }

  close(): void {
    for (const name of this.#machines) ip('netns', 'delete', name);
    ip('link', 'delete', this.#bridge);
  }

  /** Names of links have 15 characters. */
  get #bridge(): string {
    return `cm${this.#id % 1_000_000}br`;
  }

  /** 10.64.0.0 to 10.127.255.0: seldom in use. */
  get #prefix(): string {
    return `10.${64 + ((this.#id >> 8) % 64)}.${this.#id % 256}`;
  }
}

function ip(...words: string[]): void {
  execFileSync('ip', words, { stdio: ['ignore', 'ignore', 'pipe'] });
}
