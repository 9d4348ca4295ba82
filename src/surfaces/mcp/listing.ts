import type { Resource, Tool } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../domain/json.js';
import type { Log } from '../../domain/log.js';
import type { Session } from '../../host/session.js';
import {
  type CatalogServer,
  type CodeModeSettings,
  type DirectTool,
  type ToolView,
  unmatchedExclusions,
} from '../../host/tool-view.js';
import type { DeclarationFormat, ExposedTool, Profile } from '../../profiles/profile.js';
import { FIRST_LISTING_MS, FirstListing } from './first-listing.js';
import { withoutHeaderAnnotations } from './header-annotations.js';

/** Servers start one after the other: their news are told together. */
const NEWS_DELAY_MS = 100;
const TYPESCRIPT: DeclarationFormat = {
  fileName: 'types.d.ts',
  mimeType: 'text/x-typescript',
  describe: ({ path }) => `TypeScript declarations of @codemode/servers/${path}`,
};

export interface ListingOptions {
  readonly profile: Profile;
  readonly codeMode: CodeModeSettings;
  /** What the configuration says about waiting for servers that are starting. */
  readonly firstListingMs?: number;
  readonly log: Log;
}

/** The tools of one view, ours apart from those of servers. */
export interface ListedTools {
  readonly view: ToolView;
  readonly own: readonly Tool[];
  readonly direct: readonly Tool[];
}

/** What clients can see now: tools, instructions, declarations. Made anew when the catalog changes, and only then. */
export class Listing {
  readonly #session: Session;
  /** Absent where code mode is off: then every tool is listed as it is. */
  readonly #profile: Profile | undefined;
  readonly #first: FirstListing;
  readonly #codeMode: CodeModeSettings;
  readonly #log: Log;
  #hasWarned = false;
  #made: ListedTools | undefined;
  #instructions: { readonly of: ToolView; readonly key: string; readonly text: string } | undefined;

  constructor(session: Session, { profile, codeMode, firstListingMs, log }: ListingOptions) {
    this.#session = session;
    this.#profile = codeMode.enabled ? profile : undefined;
    this.#codeMode = codeMode;
    this.#log = log;
    const listsTheirs = !codeMode.enabled || codeMode.excludedTools.length > 0;
    const waitMs = firstListingMs ?? FIRST_LISTING_MS[listsTheirs ? 'listing' : 'describing'];
    this.#first = new FirstListing(session, waitMs, log);
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

  /** Waits for servers that are starting, until each has had its time. */
  awaitServers(): Promise<void> {
    return this.#first.wait();
  }

  current(): ListedTools {
    const view = this.#session.tools();
    this.#warnOfExclusions(view);
    if (this.#made?.view !== view)
      this.#made = {
        view,
        own: this.exposed.map((tool) => exposedDefinition(tool, view)),
        direct: view.direct.map(directDefinition),
      };
    return this.#made;
  }

  /** A misspelt name leaves a tool callable from code that somebody meant to exclude: said once, when all servers are known. */
  #warnOfExclusions(view: ToolView): void {
    if (this.#hasWarned) return;
    const unmatched = unmatchedExclusions(view, this.#codeMode.excludedTools);
    if (unmatched === undefined) return;
    this.#hasWarned = true;
    if (unmatched.length > 0)
      this.#log(`codeMode.excludedTools: no tool of the connected servers is named ${unmatched.join(', ')}`, 'warn');
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

  read(uri: string): { uri: string; mimeType: string; text: string } | undefined {
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
    const { own, direct } = this.current();
    return { tools: JSON.stringify([own, direct]), resources: JSON.stringify(this.resources()) };
  }

  get #format(): DeclarationFormat {
    return this.#profile?.declarationFormat ?? TYPESCRIPT;
  }

  #servers(): readonly CatalogServer[] {
    return this.#profile === undefined ? [] : this.#session.tools().forCode.servers;
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
