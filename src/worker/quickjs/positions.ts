import { originalPositionFor, type SourceMapInput, TraceMap } from '@jridgewell/trace-mapping';
import type { SourcePosition } from '../../domain/run.js';
import { AUTHORS_LINES, type AuthorsLines } from '../transpiler/authors-lines.js';

/** The name under which the agent's source appears in stack traces. */
export const PROGRAM_FILE = 'main.ts';

/** Frames of our own bindings do not help the author of a program. */
const OUR_FRAME = /\(?codemode:/;
const PROGRAM_FRAME = /^(\s+at .{0,512}?)\bmain\.ts:(\d{1,9}):(\d{1,9})(\)?)$/;
const MAX_FRAMES = 32;

/** Maps positions in the executed code to positions in the written code. Parses its map on first use. */
export class PositionMap {
  readonly #mapJson: string;
  readonly #before: (position: SourcePosition) => SourcePosition;
  #map: TraceMap | undefined;
  #lines: AuthorsLines = { before: 0, count: Number.POSITIVE_INFINITY };

  /** `before` maps a position in the engine's code to a position in the mapped code, if they differ. */
  constructor(mapJson: string, before: (position: SourcePosition) => SourcePosition = (position) => position) {
    this.#mapJson = mapJson;
    this.#before = before;
  }

  /** Kept as text, because it is stored with a suspended program. */
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

  /** The positions in the agent's source that a stack shows, innermost first. */
  places(raw: string, most: number): SourcePosition[] {
    const places: SourcePosition[] = [];
    for (const line of raw.split('\n')) {
      const match = PROGRAM_FRAME.exec(line);
      if (match !== null && places.length < most)
        places.push(this.original({ line: Number(match[2]), column: Number(match[3]) }));
    }
    return places;
  }

  /** Undefined for a line of our own code. */
  #frame(line: string): string | undefined {
    const match = PROGRAM_FRAME.exec(line);
    if (match === null) return line;
    const { line: row, column } = this.original({ line: Number(match[2]), column: Number(match[3]) });
    if (row < 1 || row > this.#lines.count) return undefined;
    return `${match[1]}${PROGRAM_FILE}:${row}:${column}${match[4]}`;
  }
}

/** The first position of a mapped stack in the agent's source. */
export function firstPosition(stack: string): SourcePosition | undefined {
  for (const line of stack.split('\n')) {
    const match = PROGRAM_FRAME.exec(line);
    if (match !== null) return { line: Number(match[2]), column: Number(match[3]) };
  }
  return undefined;
}
