import type { Script } from 'node:vm';

type Fs = typeof import('node:fs');

/** Set by the bundler: a digest of the text of all parts. */
declare const BUILD: string;

/** The position of each part's code: its first byte after the table, and its length. */
type Table = Readonly<Record<string, readonly [first: number, length: number]>>;

/** The four bytes before the table, which hold its length. */
const HEAD_BYTES = 4;

interface OpenFile {
  readonly descriptor: number;
  readonly table: Table;
  readonly start: number;
}

/**
 * The file with the compiled code of the program's parts, for one build and one version of Node. It is stored beside the parts and
 * has the same owner: a process that can write it can write the parts themselves. If it cannot be read or written, every start
 * compiles.
 */
export class CodeCache {
  readonly #fs: Fs;
  readonly #folder: string;
  readonly #path: string;
  #file: OpenFile | undefined;
  #isRefused = false;

  constructor(fs: Fs, folder: string) {
    this.#fs = fs;
    this.#folder = folder;
    this.#path = `${folder}/code-${BUILD}-${process.version}-${process.arch}.bin`;
    this.#file = this.#open();
  }

  read(name: string): Buffer | undefined {
    const place = this.#file?.table[name];
    if (this.#file === undefined || place === undefined) return undefined;
    try {
      return this.#bytes(this.#file.descriptor, this.#file.start + place[0], place[1]);
    } catch {
      return undefined;
    }
  }

  /** Called if this V8 rejects the code. Nothing more is read, and the file stays for the processes that can use it. */
  refuse(): void {
    this.#isRefused = true;
    this.#file = undefined;
  }

  /** Replaces the file with its current content plus these scripts, each with every function that this process used. */
  add(scripts: Iterable<readonly [name: string, script: Script]>): void {
    if (this.#isRefused) return;
    try {
      // Another process may have written it in the meantime.
      if (this.#file !== undefined) this.#fs.closeSync(this.#file.descriptor);
      this.#file = this.#open();
      const codes = new Map<string, Buffer>();
      for (const name of Object.keys(this.#file?.table ?? {})) {
        const code = this.read(name);
        if (code !== undefined) codes.set(name, code);
      }
      for (const [name, script] of scripts) codes.set(name, script.createCachedData());
      this.#write(codes);
    } catch {
      // The folder belongs to another user, or the disk is full.
    }
  }

  #open(): OpenFile | undefined {
    try {
      const descriptor = this.#fs.openSync(this.#path, 'r');
      if (!this.#isTheInstallers(descriptor)) return undefined;
      const length = this.#bytes(descriptor, 0, HEAD_BYTES).readUInt32LE(0);
      const table = JSON.parse(this.#bytes(descriptor, HEAD_BYTES, length).toString('utf8')) as Table;
      return { descriptor, table, start: HEAD_BYTES + length };
    } catch {
      return undefined;
    }
  }

  /** Whether the installing user owns the file and nobody else can write it: in a folder with a sticky bit, others can create files. */
  #isTheInstallers(descriptor: number): boolean {
    const { uid, mode } = this.#fs.fstatSync(descriptor);
    return uid === this.#fs.statSync(this.#folder).uid && (mode & 0o022) === 0;
  }

  #bytes(descriptor: number, position: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    if (this.#fs.readSync(descriptor, bytes, 0, length, position) !== length)
      throw new Error('the file ends too early');
    return bytes;
  }

  #write(codes: ReadonlyMap<string, Buffer>): void {
    const places: Record<string, [number, number]> = {};
    let end = 0;
    for (const [name, { length }] of codes) {
      places[name] = [end, length];
      end += length;
    }
    const table = Buffer.from(JSON.stringify(places));
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32LE(table.length);
    const draft = `${this.#path}.${process.pid}`;
    try {
      const descriptor = this.#fs.openSync(draft, 'wx', 0o644);
      this.#fs.writeFileSync(descriptor, Buffer.concat([head, table, ...codes.values()]));
      this.#fs.fsyncSync(descriptor);
      this.#fs.closeSync(descriptor);
      this.#fs.renameSync(draft, this.#path);
    } catch (error) {
      this.#fs.rmSync(draft, { force: true });
      throw error;
    }
  }
}
