import { originalPositionFor, type SourceMapInput, TraceMap } from '@jridgewell/trace-mapping';
import type { SourcePosition } from '../../domain/run.js';
import { AUTHORS_LINES, type AuthorsLines } from '../transpiler/authors-lines.js';

/** The name under which the agent's source appears in stack traces. */
export const PROGRAM_FILE = 'main.ts';

/** Frames of our own bindings say nothing to the author of a program. */
const OUR_FRAME = /\(?codemode:/;
const PROGRAM_FRAME = /^(\s+at .{0,512}?)\bmain\.ts:(\d{1,9}):(\d{1,9})(\)?)$/;
const MAX_FRAMES = 32;

/** From positions in the code that runs to positions in the code that was written. Reads its map when first asked. */
export class PositionMap {
  readonly #mapJson: string;
  readonly #before: (position: SourcePosition) => SourcePosition;
  #map: TraceMap | undefined;
  #lines: AuthorsLines = { before: 0, count: Number.POSITIVE_INFINITY };

  /** `before` leads from what the engine was given to what the map speaks of, where they differ. */
  constructor(mapJson: string, before: (position: SourcePosition) => SourcePosition = (position) => position) {
    this.#mapJson = mapJson;
    this.#before = before;
  }

  /** Kept as text, because a suspended program takes it along. */
  get json(): string {
    return this.#mapJson;
  }

  original(generated: SourcePosition): SourcePosition {
    const position = this.#before(generated);
    if (this.#mapJson === '') return position;
    this.#map ??= this.#read();
    // Columns count from 1 for people and from 0 in source maps.
    const found = originalPositionFor(this.#map, { line: position.line, column: Math.max(0, position.column - 1) });
    if (found.line === null) return position;
    return { line: found.line - this.#lines.before, column: found.column + 1 };
  }

  #read(): TraceMap {
    const map = JSON.parse(this.#mapJson) as SourceMapInput & { [AUTHORS_LINES]?: AuthorsLines };
    this.#lines = map[AUTHORS_LINES] ?? this.#lines;
    return new TraceMap(map);
  }

  stack(raw: string): string {
    const lines: string[] = [];
    for (const line of raw.split('\n')) {
      if (line === '' || OUR_FRAME.test(line)) continue;
      if (lines.length === MAX_FRAMES) break;
      const mapped = this.#frame(line);
      if (mapped !== undefined) lines.push(mapped);
    }
    return lines.join('\n');
  }

  /** The places in the agent's source that a stack shows, innermost first. */
  places(raw: string, most: number): SourcePosition[] {
    const places: SourcePosition[] = [];
    for (const line of raw.split('\n')) {
      const match = PROGRAM_FRAME.exec(line);
      if (match !== null && places.length < most)
        places.push(this.original({ line: Number(match[2]), column: Number(match[3]) }));
    }
    return places;
  }

  /** Nothing for a line that is ours. */
  #frame(line: string): string | undefined {
    const match = PROGRAM_FRAME.exec(line);
    if (match === null) return line;
    const { line: row, column } = this.original({ line: Number(match[2]), column: Number(match[3]) });
    if (row < 1 || row > this.#lines.count) return undefined;
    return `${match[1]}${PROGRAM_FILE}:${row}:${column}${match[4]}`;
  }
}

/** Where in the agent's source a mapped stack begins. */
export function firstPosition(stack: string): SourcePosition | undefined {
  for (const line of stack.split('\n')) {
    const match = PROGRAM_FRAME.exec(line);
    if (match !== null) return { line: Number(match[2]), column: Number(match[3]) };
  }
  return undefined;
}
