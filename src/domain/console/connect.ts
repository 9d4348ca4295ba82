export interface ConnectInfo {
  readonly clients: readonly ConnectClient[];
  /** Clients that have connected and are none of those above. */
  readonly others: readonly ConnectedClient[];
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
  /** Whether it has used a host of this state folder, by the name that it gives itself. */
  readonly connections: readonly ConnectedClient[];
  /** Why its file could not be read. */
  readonly problem?: string;
}

/** A client as it introduced itself. */
export interface ConnectedClient {
  readonly name: string;
  readonly version: string;
  readonly transport: 'stdio' | 'http';
  readonly caller: string;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** The host that it used last still runs; where it is one that the client started, the client is connected now. */
  readonly isHostUp: boolean;
}
