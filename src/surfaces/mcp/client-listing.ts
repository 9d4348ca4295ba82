import type { Resource, Tool } from '@modelcontextprotocol/server';
import type { Session } from '../../host/session.js';
import type { ExposedTool } from '../../profiles/profile.js';
import type { CommonListing } from './common-listing.js';
import { Listing } from './listing.js';

/** Tools per page. Clients close a connection over a message of more than 10 MB. */
const PAGE_TOOLS = 500;

/**
 * The tools that one client sees. Our own tools keep the description of the first listing for the whole session: a changed
 * description makes the model read everything again, and some clients ask the user to approve the tool again. Responses
 * announce later changes. `isKept` is false without a session: each listing then shows the current tools.
 */
export class ClientListing {
  readonly #listing: Listing;
  readonly #session: Session;
  readonly #isKept: boolean;
  #own: readonly Tool[] | undefined;

  constructor(common: CommonListing, session: Session, { isKept }: { readonly isKept: boolean }) {
    this.#listing = new Listing(session, common);
    this.#session = session;
    this.#isKept = isKept;
  }

  get exposed(): readonly ExposedTool[] {
    return this.#listing.exposed;
  }

  instructions(): string | undefined {
    const instructions = this.#listing.instructions();
    if (instructions !== undefined) this.#session.instructed(this.#session.tools());
    return instructions;
  }

  /** One page of the tools. If the list has changed, a cursor returns what is at its position now. */
  async page(cursor: string | undefined): Promise<{ tools: Tool[]; nextCursor?: string }> {
    await this.#listing.awaitServers();
    const { own, direct, view } = this.#listing.current();
    if (this.#isKept) this.#own ??= own;
    this.#session.listed(view);
    this.#listing.listed();
    const all = [...(this.#own ?? own), ...direct];
    const from = cursor === undefined ? 0 : Number.parseInt(cursor, 10);
    const to = from + PAGE_TOOLS;
    return { tools: all.slice(from, to), ...(to < all.length ? { nextCursor: String(to) } : {}) };
  }

  /** Whether the visible tools and resources have changed since the last notification or the first listing. */
  news(): { readonly tools: boolean; readonly resources: boolean } {
    return this.#listing.news();
  }

  resources(): Resource[] {
    return this.#listing.resources();
  }

  async read(uri: string): Promise<{ uri: string; mimeType: string; text: string } | undefined> {
    await this.#listing.awaitServers();
    return this.#listing.read(uri);
  }
}
