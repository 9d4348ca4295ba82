import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'libsql';
import { HostError } from '../../domain/errors.js';
import { makeFolder } from '../../lib/files/make-folder.js';
import { storableText } from '../../lib/text/storable-text.js';
import { storedNumber } from '../../lib/text/stored-number.js';
import { unwritableState } from '../unwritable-state.js';
import { MIGRATIONS } from './migrations.js';

/** Another host locks the file for milliseconds. A host that takes this long is stuck. */
const BUSY_TIMEOUT_MS = 5_000;

type Value = string | number | bigint | Uint8Array | null;

/** A prepared statement. Its author asserts the type of its rows; it is not checked. */
export interface Statement<Row> {
  get(...values: Value[]): Row | undefined;
  all(...values: Value[]): Row[];
  /** Returns how many rows changed. */
  run(...values: Value[]): number;
}

/**
 * The SQLite database of a state folder. Several hosts have it open at once: write-ahead logging lets them read while one
 * writes, and a read followed by a write happens in one immediate transaction.
 */
export class Database {
  readonly #sqlite: Sqlite.Database;

  private constructor(sqlite: Sqlite.Database) {
    this.#sqlite = sqlite;
  }

  static async open(stateFolder: string): Promise<Database> {
    const file = join(stateFolder, 'codemode.db');
    try {
      await makeFolder(stateFolder, 0o700);
      // Create the file ourselves: the driver would make it readable by others if the umask allows it.
      if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
      chmodSync(file, 0o600);
      const sqlite = new Sqlite(file);
      sqlite.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
      sqlite.pragma('journal_mode = WAL');
      // A crash of the program loses nothing. A power cut may lose the last moments, never the file's integrity.
      sqlite.pragma('synchronous = NORMAL');
      sqlite.pragma('foreign_keys = ON');
      const database = new Database(sqlite);
      database.#migrate();
      return database;
    } catch (error) {
      if (error instanceof HostError) throw error;
      throw new HostError(
        'bad_config',
        isForeignFile(error)
          ? `the state in ${file} cannot be opened (${(error as Error).message}); move the file away, or set CODEMODE_HOME to another folder`
          : unwritableState(stateFolder, error),
        { cause: error },
      );
    }
  }

  prepare<Row>(sql: string): Statement<Row> {
    const statement = this.#sqlite.prepare(sql);
    // Passed as one array: the driver builds one from separate values, which takes 5 µs for the 17 of a record.
    return {
      get: (...values) => clearly(() => readRow(statement.get(bound(values)) as RawRow | undefined) as Row | undefined),
      all: (...values) => clearly(() => (statement.all(bound(values)) as RawRow[]).map((row) => readRow(row) as Row)),
      run: (...values) => clearly(() => statement.run(bound(values)).changes),
    };
  }

  /** Atomic, and nobody else writes in between. */
  transaction<Result>(work: () => Result): Result {
    return clearly(() => this.#sqlite.transaction(work).immediate());
  }

  close(): void {
    this.#sqlite.close();
  }

  #migrate(): void {
    this.transaction(() => {
      const version = (this.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version ??
        0) as number;
      if (version > MIGRATIONS.length) {
        throw new HostError(
          'bad_config',
          'the state folder was written by a newer codemode; use that one, or set CODEMODE_HOME to another folder',
        );
      }
      for (const migration of MIGRATIONS.slice(version)) this.#sqlite.exec(migration);
      this.#sqlite.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    });
  }
}

/** Turns the driver's errors into ones that say what to do. */
function clearly<Result>(act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Sqlite.SqliteError)) throw error;
    throw new HostError(
      'internal',
      `the state folder cannot be used (${error.message}); make room on its disk, or check who owns it`,
      { cause: error },
    );
  }
}

/** A MAC over a text must cover it in this form: see `storableText`. */
function bound(values: Value[]): Value[] {
  for (const [index, value] of values.entries()) if (typeof value === 'string') values[index] = storableText(value);
  return values;
}

type RawRow = Record<string, unknown>;

/** The driver returns bytes as different types from `get` and `all`, and adds its own metadata to a row. */
function readRow(row: RawRow | undefined): RawRow | undefined {
  if (row === undefined) return undefined;
  delete row._metadata;
  for (const [name, value] of Object.entries(row)) {
    if (value instanceof ArrayBuffer) row[name] = Buffer.from(value);
    else if (typeof value === 'number') row[name] = storedNumber(value);
  }
  return row;
}

/** The file is corrupt or not a database. More space or other permissions would not help. */
function isForeignFile(error: unknown): boolean {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return /^SQLITE_(?:NOTADB|CORRUPT)/.test(code) || /not a database|malformed/.test(message);
}
