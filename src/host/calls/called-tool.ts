import type { CatalogTool } from '../../catalog/snapshot.js';

/** As much of a tool as a call of it has to do with. */
export type CalledTool = Pick<CatalogTool, 'tool' | 'exportName'> & {
  readonly server: { readonly path: string };
  /** How the program names the server; absent: by its path. */
  readonly serverName?: string;
};

/** What a program writes to call a tool, for messages. */
export interface ProgramNames {
  readonly serverName: string;
  readonly exportName: string;
}

export function calledName({ server, serverName, exportName }: Omit<CalledTool, 'tool'>): string {
  return `${serverName ?? server.path}.${exportName}`;
}
