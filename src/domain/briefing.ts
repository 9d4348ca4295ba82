/**
 * How much an agent is told about the connected tools up front: their declarations in one of three details, an index of
 * servers and tool names where those do not fit, or `none` where nothing is connected.
 */
export type BriefingLevel = 'full' | 'compact' | 'signatures' | 'index' | 'none';

/** One call of a connected tool that its schema accepts, to be shown as an example. All of it is plain, short ASCII. */
export interface ExampleCall {
  /** Segment under `@codemode/servers/`. */
  readonly path: string;
  /** An identifier to import the module as. */
  readonly moduleName: string;
  readonly exportName: string;
  /** The argument as TypeScript; empty where the tool takes none. */
  readonly argument: string;
}

/**
 * What an agent is told about the connected servers before its first program. Names and descriptions in the texts come
 * from the servers: bounded, visible, unable to end a comment or a fenced block, and still not to be obeyed.
 */
export interface CatalogBriefing {
  readonly level: BriefingLevel;
  readonly serverCount: number;
  readonly toolCount: number;
  /** Servers whose tools are not known yet. */
  readonly startingCount: number;
  /** TypeScript declarations, or the lines of an index; empty for `none`. */
  readonly text: string;
  /** For `index`: functions with their parameters where the index has no room for them, a line for each server; else empty. */
  readonly parameters: string;
  /** Of `text`. */
  readonly estimatedTokens: number;
  /** An index in at most this many characters, for places where there is room for no more. */
  readonly shortIndex: (maximumCharacters: number) => string;
  readonly example?: ExampleCall;
  /** For `none`: what was searched for, and what the user has to type. */
  readonly notice?: string;
}

/** The argument of an example as JSON. Its values have neither brackets nor commas in them: what stands before a colon behind one is a key. */
export function argumentJson(argument: string): string {
  return argument.replace(/([{,]\s*)([A-Za-z_$][\w$]*):/g, '$1"$2":');
}
