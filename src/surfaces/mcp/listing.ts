import type { Resource, Tool } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../domain/json.js';
import type { Session } from '../../host/session.js';
import { shownTool } from '../../host/tools/tool-definition.js';
import type { CatalogServer, DirectTool, ToolView } from '../../host/tools/tool-view.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { DeclarationFormat, ExposedTool, Profile } from '../../profiles/profile.js';
import type { CommonListing, ListingDigests } from './common-listing.js';
import { withoutHeaderAnnotations } from './header-annotations.js';

const TYPESCRIPT: DeclarationFormat = {
  fileName: 'types.d.ts',
  mimeType: 'text/x-typescript',
  describe: ({ path }) => `TypeScript declarations of @codemode/servers/${path}`,
};

/** The tools of one view; our own are separate from those of servers. */
export interface ListedTools {
  readonly view: ToolView;
  readonly own: readonly Tool[];
  readonly direct: readonly Tool[];
}

/** What one caller sees now: tools, instructions, declarations. Rebuilt only when the catalog changes. */
export class Listing {
  readonly #session: Session;
  readonly #common: CommonListing;
  #told: ListingDigests | undefined;
  /** Both caches are keyed by the view and released with it: there may be thousands of sessions, each with a listing. */
  readonly #made = new WeakMap<ToolView, ListedTools>();
  readonly #instructions = new WeakMap<ToolView, { readonly key: string; readonly text: string }>();

  constructor(session: Session, common: CommonListing) {
    this.#session = session;
    this.#common = common;
  }

  get exposed(): readonly ExposedTool[] {
    this.#common.chooseFor(this.#session, { isLastCall: false });
    return [...(this.#profile?.tools ?? []), ...this.#common.scriptTools()];
  }

  instructions(): string | undefined {
    this.#common.chooseFor(this.#session, { isLastCall: false });
    const view = this.#session.tools();
    const profile = this.#profile;
    // Until it is known whether the client writes programs, it gets no instructions for them.
    if (profile === undefined || this.#session.codeMode.isCodeMode === 'auto') return undefined;
    const scripts = this.#session.scripts();
    const key = scripts.map(({ name, description }) => `${name} ${description}`).join('\n');
    const known = this.#instructions.get(view);
    if (known?.key === key) return known.text;
    const text = profile.instructions(view, scripts);
    this.#instructions.set(view, { key, text });
    return text;
  }

  /** Waits for servers that are starting, up to the time limit of each. */
  async awaitServers(): Promise<void> {
    await this.#common.awaitServers(this.#session);
    this.#common.chooseFor(this.#session, { isLastCall: true });
  }

  current(): ListedTools {
    const view = this.#session.tools();
    this.#common.warnOfExclusions(view);
    // Scripts can be stored and replaced while the servers are unchanged.
    if (this.#common.scriptTools().length > 0) return this.#listed(view);
    const made = this.#made.get(view) ?? this.#listed(view);
    this.#made.set(view, made);
    return made;
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
    const profile = this.#profile;
    const { fileName, mimeType } = this.#format;
    const server = this.#servers().find((each) => uriOf(each, fileName) === uri);
    if (server === undefined || profile === undefined) return undefined;
    return { uri, mimeType, text: profile.declarations(server, this.#session.tools()) };
  }

  /** Called when the client got a list: later changes are relative to it. Runs after the response, so the response does not wait. */
  listed(): void {
    if (this.#told === undefined) setImmediate(() => (this.#told ??= this.#digests()));
  }

  /** Whether the visible tools and resources have changed since the last notification or the first listing. */
  news(): { readonly tools: boolean; readonly resources: boolean } {
    const before = this.#told;
    const now = this.#digests();
    this.#told = now;
    return { tools: now.tools !== before?.tools, resources: now.resources !== before?.resources };
  }

  /** Without observed return types: they change with every run, and are not a change of the tools. */
  #digests(): ListingDigests {
    const { observedTypeOf: _, ...view } = this.#session.tools();
    return this.#common.digestsOf(view, () => {
      const { own, direct } = this.#listed(view);
      return { tools: [own, direct], resources: this.resources() };
    });
  }

  #listed(view: ToolView): ListedTools {
    return {
      view,
      own: this.exposed.map((tool) => exposedDefinition(tool, view)),
      direct: view.direct.map(directDefinition),
    };
  }

  get #profile(): Profile | undefined {
    return this.#common.profileFor(this.#session);
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

/** A client that loads tools only after a search must load this one from the start: nothing works without it. */
const ALWAYS_LOADED = { 'anthropic/alwaysLoad': true };

function exposedDefinition(tool: ExposedTool, view: ToolView): Tool {
  const { name, title, inputSchema, outputSchema, meta, isLoadedLate } = tool;
  return {
    name,
    title,
    description: tool.description(view),
    inputSchema: inputSchema as Tool['inputSchema'],
    ...omitUndefined({ outputSchema: outputSchema as NonNullable<Tool['outputSchema']> | undefined }),
    ...(isLoadedLate === true ? {} : { _meta: { ...meta, ...ALWAYS_LOADED } }),
  };
}

/** A tool as its server lists it, under a name that is free here. Its texts are foreign, and are shown on one line. */
function directDefinition({ name, tool: { tool } }: DirectTool): Tool {
  const { title, annotations } = tool;
  const { description, inputSchema, outputSchema } = shownTool(tool);
  return {
    name,
    ...omitUndefined({ title, description }),
    inputSchema: objectSchema(inputSchema === undefined ? undefined : withoutHeaderAnnotations(inputSchema)),
    ...omitUndefined({ outputSchema: outputSchema as NonNullable<Tool['outputSchema']> | undefined, annotations }),
  };
}

/** The protocol allows only objects. The broker wraps any other value in `input` too. */
function objectSchema(schema: JsonObject | undefined): Tool['inputSchema'] {
  if (schema === undefined || schema.type === undefined || schema.type === 'object')
    return { ...schema, type: 'object' } as Tool['inputSchema'];
  return { type: 'object', properties: { input: schema }, required: ['input'] } as Tool['inputSchema'];
}
