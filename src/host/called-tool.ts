import type { CatalogTool } from '../catalog/snapshot.js';

/** As much of a tool as a call of it has to do with. */
export type CalledTool = Pick<CatalogTool, 'tool' | 'exportName'> & { readonly server: { readonly path: string } };
