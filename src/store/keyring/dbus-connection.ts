import { connect, type Socket } from 'node:net';
import { DbusError, DbusReader, type DbusValue, type DbusVariant, DbusWriter } from './dbus-values.js';

export interface DbusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature?: string;
  readonly values?: readonly DbusValue[];
  /** The signature that the reply must have. */
  readonly returns: string;
}

interface Waiting {
  readonly returns: string;
  resolve(values: DbusValue[]): void;
  reject(error: Error): void;
}

const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_LINE_BYTES = 4096;
const FIXED_HEADER_BYTES = 16;
const LITTLE = 'l'.charCodeAt(0);
const TYPE = { call: 1, reply: 2, error: 3 } as const;
const FIELD = { path: 1, interface: 2, member: 3, errorName: 4, replySerial: 5, destination: 6, signature: 8 } as const;
/** The bus must not start a program for us, and nobody is prompted for a password. */
const NO_AUTO_START = 2;

/**
 * A connection to the session bus: makes calls and reads their replies, and nothing else. One timeout, set by the caller,
 * covers the whole connection; then all pending calls fail. A silent bus blocks nothing.
 */
export class DbusConnection {
  readonly #socket: Socket;
  readonly #timer: NodeJS.Timeout;
  readonly #waiting = new Map<number, Waiting>();
  #received: Buffer = Buffer.alloc(0);
  #serial = 0;
  #failure: Error | undefined;
  #greeted: (() => void) | undefined;

  private constructor(socket: Socket, withinMs: number) {
    this.#socket = socket;
    this.#timer = setTimeout(() => this.#fail(new DbusError(`no answer within ${withinMs} ms`)), withinMs);
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new DbusError('the session bus closed the connection')));
  }

  static async open(address: string, userId: number, withinMs: number): Promise<DbusConnection> {
    const connection = new DbusConnection(connect({ path: socketPathOf(address) }), withinMs);
    try {
      await connection.#greet(userId);
      await connection.call({ ...BUS, member: 'Hello', returns: 's' });
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  call(call: DbusCall): Promise<DbusValue[]> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const serial = ++this.#serial;
    return new Promise((resolve, reject) => {
      this.#waiting.set(serial, { returns: call.returns, resolve, reject });
      this.#socket.write(messageOf(serial, call));
    });
  }

  close(): void {
    this.#fail(new DbusError('closed'));
  }

  /** The kernel tells the bus our user id. The number we send only has to match it. */
  #greet(userId: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(0, { returns: '', resolve: () => resolve(), reject });
      this.#greeted = () => {
        this.#greeted = undefined;
        this.#waiting.delete(0);
        this.#socket.write('BEGIN\r\n');
        resolve();
      };
      this.#socket.write(`\0AUTH EXTERNAL ${Buffer.from(String(userId)).toString('hex')}\r\n`);
    });
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    try {
      if (this.#greeted !== undefined && !this.#receiveGreeting(this.#greeted)) return;
      while (this.#receiveMessage());
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #receiveGreeting(greeted: () => void): boolean {
    const end = this.#received.indexOf('\r\n');
    if (end < 0 && this.#received.length <= MAX_LINE_BYTES) return false;
    if (this.#received.subarray(0, 3).toString('latin1') !== 'OK ')
      throw new DbusError('the session bus refused the connection');
    this.#received = this.#received.subarray(end + 2);
    greeted();
    return true;
  }

  #receiveMessage(): boolean {
    const bytes = this.#received;
    if (bytes.length < FIXED_HEADER_BYTES) return false;
    const isLittle = bytes[0] === LITTLE;
    const number = (at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
    const [bodyBytes, fieldBytes] = [number(4), number(12)];
    const bodyAt = Math.ceil((FIXED_HEADER_BYTES + fieldBytes) / 8) * 8;
    if (bodyAt + bodyBytes > MAX_MESSAGE_BYTES) throw new DbusError('a message is too long');
    if (bytes.length < bodyAt + bodyBytes) return false;
    this.#received = bytes.subarray(bodyAt + bodyBytes);
    if (bytes[1] === TYPE.reply || bytes[1] === TYPE.error)
      this.#answer(bytes.subarray(0, bodyAt), bytes.subarray(bodyAt, bodyAt + bodyBytes), isLittle);
    return true;
  }

  #answer(head: Buffer, body: Buffer, isLittle: boolean): void {
    const fields = new DbusReader(head, isLittle).read('yyyyuua(yv)')[6] as readonly (readonly [number, DbusVariant])[];
    const field = (code: number) => fields.find(([each]) => each === code)?.[1].value;
    const serial = field(FIELD.replySerial) as number;
    const waiting = this.#waiting.get(serial);
    if (waiting === undefined) return;
    this.#waiting.delete(serial);
    if (head[1] === TYPE.error) {
      const name = String(field(FIELD.errorName) ?? 'unknown');
      waiting.reject(new DbusError(`it was refused (${name.slice(0, 100)})`, name));
    } else if ((field(FIELD.signature) ?? '') !== waiting.returns) {
      waiting.reject(new DbusError('an answer has an unexpected form'));
    } else {
      try {
        waiting.resolve(new DbusReader(body, isLittle).read(waiting.returns));
      } catch (error) {
        waiting.reject(error as Error);
      }
    }
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    clearTimeout(this.#timer);
    this.#socket.destroy();
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

const BUS = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
} as const;

function messageOf(serial: number, call: DbusCall): Uint8Array {
  const { destination, path, interface: of, member, signature = '', values = [] } = call;
  const body = new DbusWriter().write(signature, values).bytes();
  const fields: DbusValue[] = [
    [FIELD.path, { signature: 'o', value: path }],
    [FIELD.interface, { signature: 's', value: of }],
    [FIELD.member, { signature: 's', value: member }],
    [FIELD.destination, { signature: 's', value: destination }],
    ...(signature === '' ? [] : [[FIELD.signature, { signature: 'g', value: signature }]]),
  ];
  const head = new DbusWriter()
    .write('yyyyuua(yv)', [LITTLE, TYPE.call, NO_AUTO_START, 1, body.length, serial, fields])
    .align(8)
    .bytes();
  return Buffer.concat([head, body]);
}

/** The socket of the first address in the list that is a local Unix socket. */
function socketPathOf(addresses: string): string {
  for (const address of addresses.split(';')) {
    const [, kind, value] = /^unix:(?:[^,]*,)*(path|abstract)=([^,]+)/.exec(address) ?? [];
    if (kind === undefined || value === undefined) continue;
    return (kind === 'abstract' ? '\0' : '') + decodeURIComponent(value);
  }
  throw new DbusError('the session bus is not on this machine');
}
