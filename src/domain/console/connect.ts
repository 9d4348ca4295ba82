export interface ConnectInfo {
  readonly clients: readonly ConnectClient[];
  /** Clients that have connected and are not listed above. */
  readonly others: readonly ConnectedClient[];
  /** The URL of this host for clients over HTTP; absent if it serves none. */
  readonly url?: string;
}

export interface ConnectClient {
  readonly id: string;
  readonly name: string;
  /** The command to type. */
  readonly command?: string;
  /** The file, and the text to put into it. */
  readonly file?: { readonly path: string; readonly text: string };
  /** A link that the client opens. */
  readonly link?: string;
  /** Whether any trace of the client was found on this machine. */
  readonly isFound: boolean;
  /** Whether its file starts codemode. */
  readonly isConfigured: boolean;
  /** Connections to a host of this state folder under the client's own name. */
  readonly connections: readonly ConnectedClient[];
  /** Why its file could not be read. */
  readonly problem?: string;
}

/** A client under the name and version that it sent. */
export interface ConnectedClient {
  readonly name: string;
  readonly version: string;
  readonly transport: 'stdio' | 'http';
  readonly caller: string;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** Whether the host that it used last still runs. If the client started that host itself, the client is connected now. */
  readonly isHostUp: boolean;
}
