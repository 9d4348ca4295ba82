/**
 * A byte order mark, and one that was encoded twice: the readers of bodies and of event streams skip both. Without them, everybody sees
 * the same first character.
 */
const MARKS = [Buffer.from('efbbbf', 'hex'), Buffer.from('c3afc2bbc2bf', 'hex')];

/** Removes byte order marks from the beginning of a body that arrives in pieces. */
export class MarkRemover {
  /** The beginning, as long as it may be part of a mark. Undefined after it. */
  #begun: Buffer | undefined = Buffer.alloc(0);

  remove(piece: Uint8Array): Uint8Array {
    const isPlain = this.#begun?.length === 0 && piece.length > 0 && !MARKS.some(([first]) => first === piece[0]);
    if (isPlain) this.#begun = undefined;
    if (this.#begun === undefined) return piece;
    let bytes = Buffer.concat([this.#begun, piece]);
    for (let mark = markOf(bytes); mark !== undefined; mark = markOf(bytes)) bytes = bytes.subarray(mark.length);
    const isOpen = MARKS.some((mark) => mark.subarray(0, bytes.length).equals(bytes));
    this.#begun = isOpen ? bytes : undefined;
    return isOpen ? new Uint8Array() : bytes;
  }
}

function markOf(bytes: Buffer): Buffer | undefined {
  return MARKS.find((mark) => bytes.subarray(0, mark.length).equals(mark));
}
