import type { Resource, Tool } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../domain/json.js';
import type { Session } from '../../host/session.js';
import type { CatalogServer, CodeModeSettings, DirectTool, ToolView } from '../../host/tool-view.js';
import type { DeclarationFormat, ExposedTool, Profile } from '../../profiles/profile.js';
import { withoutHeaderAnnotations } from './header-annotations.js';

/** A page of tools. Clients close a connection over a message of more than 10 MB. */
const PAGE_TOOLS = 500;
/**
 * How long a client's first question waits for servers whose tools were never seen. Those on disk are never waited for.
 * Longer where tools of theirs are listed themselves: not every client asks again when it is told that there are more.
 */
const FIRST_LISTING_MS = { describing: 3_000, listing: 12_000 } as const;
/** Servers start one after the other: their news are told together. */
const NEWS_DELAY_MS = 100;
const TYPESCRIPT: DeclarationFormat = {
  fileName: 'types.d.ts',
  mimeType: 'text/x-typescript',
  describe: ({ path }) => `TypeScript declarations of @codemode/servers/${path}`,
};

/** What clients see: tools, instructions, declarations. Made anew when the catalog changes, and only then. */
export class Listing {
  readonly #session: Session;
  /** Absent where code mode is off: then every tool is listed as it is. */
  readonly #profile: Profile | undefined;
  readonly #waitMs: number;
  #made: { readonly of: ToolView; readonly tools: readonly Tool[] } | undefined;
  #instructions: { readonly of: ToolView; readonly key: string; readonly text: string } | undefined;

  constructor(session: Session, profile: Profile, codeMode: CodeModeSettings) {
    this.#session = session;
    this.#profile = codeMode.enabled ? profile : undefined;
    const listsTheirs = !codeMode.enabled || codeMode.excludedTools.length > 0;
    this.#waitMs = FIRST_LISTING_MS[listsTheirs ? 'listing' : 'describing'];
  }

  get exposed(): readonly ExposedTool[] {
    return this.#profile?.tools ?? [];
  }

  instructions(): string | undefined {
    const view = this.#session.tools();
    if (this.#profile === undefined) return undefined;
    const scripts = this.#session.scripts();
    const key = scripts.map(({ name, description }) => `${name} ${description}`).join('\n');
    if (this.#instructions?.of !== view || this.#instructions.key !== key)
      this.#instructions = { of: view, key, text: this.#profile.instructions(view, scripts) };
    return this.#instructions.text;
  }

  /** One page of the tools that exist now. A cursor of a list that has changed meanwhile gives what stands there now. */
  async page(cursor: string | undefined): Promise<{ tools: Tool[]; nextCursor?: string }> {
    await this.#firstListing();
    const all = this.#tools();
    const from = cursor === undefined ? 0 : Number.parseInt(cursor, 10);
    const to = from + PAGE_TOOLS;
    return { tools: all.slice(from, to), ...(to < all.length ? { nextCursor: String(to) } : {}) };
  }

  resources(): Resource[] {
    const { fileName, mimeType, describe } = this.#format;
    return this.#servers().map((server) => ({
      uri: uriOf(server, fileName),
      name: `${server.path}/${fileName}`,
      title: `Types of ${server.path}`,
      description: `${describe(server)} (${server.tools.length} tools)`,
      mimeType,
    }));
  }

  async read(uri: string): Promise<{ uri: string; mimeType: string; text: string } | undefined> {
    await this.#firstListing();
    const { fileName, mimeType } = this.#format;
    const server = this.#servers().find((each) => uriOf(each, fileName) === uri);
    if (server === undefined || this.#profile === undefined) return undefined;
    return { uri, mimeType, text: this.#profile.declarations(server, this.#session.tools()) };
  }

  /** Says when something that a client can see is different. Returns the function that stops it. */
  onChange(listener: (news: { readonly tools: boolean; readonly resources: boolean }) => void): () => void {
    let seen = this.#digests();
    let timer: NodeJS.Timeout | undefined;
    const tell = (): void => {
      timer = undefined;
      const now = this.#digests();
      const news = { tools: now.tools !== seen.tools, resources: now.resources !== seen.resources };
      seen = now;
      if (news.tools || news.resources) listener(news);
    };
    const stop = this.#session.onToolsChanged(() => {
      timer ??= setTimeout(tell, NEWS_DELAY_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }

  #digests(): { tools: string; resources: string } {
    return { tools: JSON.stringify(this.#tools()), resources: JSON.stringify(this.resources()) };
  }

  get #format(): DeclarationFormat {
    return this.#profile?.declarationFormat ?? TYPESCRIPT;
  }

  #tools(): readonly Tool[] {
    const view = this.#session.tools();
    if (this.#made?.of !== view) {
      const own = this.exposed.map((tool) => exposedDefinition(tool, view));
      this.#made = { of: view, tools: [...own, ...view.direct.map(directDefinition)] };
    }
    return this.#made.tools;
  }

  #servers(): readonly CatalogServer[] {
    return this.#profile === undefined ? [] : this.#session.tools().forCode.servers;
  }

  async #firstListing(): Promise<void> {
    const { forCode, direct } = this.#session.tools();
    const known = new Set(direct.map(({ tool }) => tool.server.id));
    const isNew = ({ id, tools, isAvailable }: CatalogServer) => isAvailable && tools.length === 0 && !known.has(id);
    if (this.#profile !== undefined && !forCode.servers.some(isNew)) return;
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise((resolve) => {
      timer = setTimeout(resolve, this.#waitMs);
    });
    await Promise.race([this.#session.ready(), patience]).finally(() => clearTimeout(timer));
  }
}

function uriOf({ path }: CatalogServer, fileName: string): string {
  return `codemode://servers/${path}/${fileName}`;
}

/** A client that loads tools only after a search for them must have this one from the start: nothing works without it. */
const ALWAYS_LOADED = { 'anthropic/alwaysLoad': true };

function exposedDefinition(tool: ExposedTool, view: ToolView): Tool {
  const { name, title, inputSchema, outputSchema, meta } = tool;
  return {
    name,
    title,
    description: tool.description(view),
    inputSchema: inputSchema as Tool['inputSchema'],
    outputSchema: outputSchema as NonNullable<Tool['outputSchema']>,
    _meta: { ...meta, ...ALWAYS_LOADED },
  };
}

/** A tool as its own server lists it, under a name that is free here. */
function directDefinition({ name, tool: { tool } }: DirectTool): Tool {
  const { title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    inputSchema: objectSchema(inputSchema === undefined ? undefined : withoutHeaderAnnotations(inputSchema)),
    ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as NonNullable<Tool['outputSchema']> }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

/** The protocol knows objects only. The broker puts another value under `input` as well. */
function objectSchema(schema: JsonObject | undefined): Tool['inputSchema'] {
  if (schema === undefined || schema.type === undefined || schema.type === 'object')
    return { ...schema, type: 'object' } as Tool['inputSchema'];
  return { type: 'object', properties: { input: schema }, required: ['input'] } as Tool['inputSchema'];
}
