export interface ConnectInfo {
  readonly clients: readonly ConnectClient[];
  /** Where clients reach this host over HTTP; absent where it serves none. */
  readonly url?: string;
}

export interface ConnectClient {
  readonly id: string;
  readonly name: string;
  /** What to type. */
  readonly command?: string;
  /** The file, and what goes into it. */
  readonly file?: { readonly path: string; readonly text: string };
  /** A link that the client opens. */
  readonly link?: string;
  /** Whether anything of the client is on this machine. */
  readonly isFound: boolean;
  /** Whether its file starts codemode. */
  readonly isConfigured: boolean;
  /** Why its file could not be read. */
  readonly problem?: string;
}
