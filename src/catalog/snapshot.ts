import type { Tool } from '../domain/tool.js';

/** One tool as programs know it. */
export interface CatalogTool {
  readonly tool: Tool;
  /** The identifier under which its server's module exports it. */
  readonly exportName: string;
  /** What a worker names it by: `path/toolName`. */
  readonly target: string;
  readonly server: CatalogServer;
}

/** One server as programs know it: `import ... from '@codemode/servers/<path>'`. */
export interface CatalogServer {
  /** The name the user gave it. */
  readonly id: string;
  /** The name programs use for it, everywhere. */
  readonly path: string;
  /** What it calls itself, or its id. */
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly isAvailable: boolean;
  /** Why it is not. */
  readonly problem?: string;
  readonly tools: readonly CatalogTool[];
}

/** Which tools exist, at one moment. A program keeps the one it started with; the next gets the next. */
export interface CatalogSnapshot {
  /** Changes whenever anything in it does. */
  readonly version: number;
  readonly servers: readonly CatalogServer[];
  readonly serverByPath: ReadonlyMap<string, CatalogServer>;
  readonly toolByTarget: ReadonlyMap<string, CatalogTool>;
}
