/**
 * How much an agent is told about the connected tools up front: their declarations in one of three levels of detail, an index
 * of servers and tool names if those do not fit, or `none` if nothing is connected.
 */
export type BriefingLevel = 'full' | 'compact' | 'signatures' | 'index' | 'none';

/** One example call of a connected tool that its schema accepts. All of it is plain, short ASCII. */
export interface ExampleCall {
  /** Segment under `@codemode/servers/`. */
  readonly path: string;
  /** An identifier to import the module as. */
  readonly moduleName: string;
  readonly exportName: string;
  /** The argument as TypeScript; empty if the tool takes none. */
  readonly argument: string;
}

/**
 * What an agent is told about the connected servers before its first program. Names and descriptions in the texts come from the
 * servers: they are bounded, visible, unable to end a comment or a fenced block, and still untrusted.
 */
export interface CatalogBriefing {
  readonly level: BriefingLevel;
  readonly serverCount: number;
  readonly toolCount: number;
  /** Servers whose tools are not known yet. */
  readonly startingCount: number;
  /** TypeScript declarations, or the lines of an index; empty for `none`. */
  readonly text: string;
  /** For `index`: one line per server, with functions and parameters that the index has no room for. Otherwise empty. */
  readonly parameters: string;
  /** Estimate for `text`. */
  readonly estimatedTokens: number;
  /** An index of at most this many characters, for places with little room. */
  readonly shortIndex: (maximumCharacters: number) => string;
  readonly example?: ExampleCall;
  /** For `none`: where servers were searched for, and what the user has to type. */
  readonly notice?: string;
}

/** The argument of an example as JSON. Its values contain no brackets or commas, so a name between one of these and a colon is a key. */
export function argumentJson(argument: string): string {
  return argument.replace(/([{,]\s*)([A-Za-z_$][\w$]*):/g, '$1"$2":');
}
