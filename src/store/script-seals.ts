import type { ScriptHead, StoredScript } from '../domain/script.js';
import { type SealBinding, seal, unseal } from '../lib/secrets/sealed.js';
import { MAX_SCRIPTS, scriptDigest } from './scripts.js';

/** A script as stored in its row. */
export interface ScriptRow {
  readonly name: string;
  readonly head: Buffer;
  readonly source: Buffer;
}

/** Seals scripts, bound to their names. */
export class ScriptSeals {
  readonly #key: Uint8Array;
  /** Runs list all scripts. A row with the same bytes has the same content, so it is not unsealed again. */
  readonly #heads = new Map<string, { readonly sealed: Buffer; readonly head: ScriptHead }>();

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** `key` is the key of the row. An earlier version has its own key, so it cannot be mistaken for the newest. */
  seal({ source, ...head }: StoredScript, key: string = head.name): ScriptRow {
    const name = key;
    return {
      name,
      head: seal(this.#key, binding('head', name), Buffer.from(JSON.stringify(head))),
      source: seal(this.#key, binding('source', name), Buffer.from(source)),
    };
  }

  openHead({ name, head: sealed }: Omit<ScriptRow, 'source'>): ScriptHead | undefined {
    const known = this.#heads.get(name);
    if (known?.sealed.equals(sealed) === true) return known.head;
    const json = unseal(this.#key, binding('head', name), sealed)?.toString('utf8');
    if (json === undefined) return undefined;
    const head: ScriptHead = { ...FIRST, ...(JSON.parse(json) as ScriptHead) };
    if (this.#heads.size >= MAX_KNOWN) this.#heads.clear();
    this.#heads.set(name, { sealed, head });
    return head;
  }

  open(row: ScriptRow): StoredScript | undefined {
    const head = this.openHead(row);
    const source = unseal(this.#key, binding('source', row.name), row.source)?.toString('utf8');
    // Both parts are authentic, but one may have been restored from an old copy.
    const isOne = head !== undefined && source !== undefined && scriptDigest(source) === head.digest;
    return isOne ? { ...head, source } : undefined;
  }
}

/** All scripts and some of their earlier versions. */
const MAX_KNOWN = 2 * MAX_SCRIPTS;

/** Rows of older versions of codemode have no version number. */
const FIRST: Partial<ScriptHead> = { version: 1 };

function binding(kind: string, name: string): SealBinding {
  return { purpose: `script ${kind}`, owner: [name] };
}
