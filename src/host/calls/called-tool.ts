import type { CatalogTool } from '../../catalog/snapshot.js';

/** The part of a tool that a call needs. */
export type CalledTool = Pick<CatalogTool, 'tool' | 'exportName'> & {
  readonly server: { readonly path: string };
  /** The program's name for the server; absent: its path. */
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
