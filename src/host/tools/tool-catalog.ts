import type { Catalog } from '../../catalog/catalog.js';
import { firstSentences } from '../../catalog/declarations/doc-comment.js';
import { markedSignature } from '../../catalog/declarations/typescript/signature.js';
import type { ObservedTypeOf } from '../../catalog/declarations/typescript/typescript.js';
import { type CatalogServer, type CatalogSnapshot, type CatalogTool, notForCode } from '../../catalog/snapshot.js';
import { shownDescription, shownSchema } from '../../catalog/visible-tool.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { ProcessLanguage } from '../../domain/process-program.js';
import type { CallReply, GuestError } from '../../domain/run.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { nearest } from '../../lib/text/nearest.js';
import { visibleLine } from '../../lib/text/visible-text.js';
import { programNames } from '../processes/process-packages.js';
import { serverNamed } from '../scripts/script-calls.js';
import { DOWN_HINT, STARTING_HINT } from './discovery.js';

/** `catalog` of programs on real interpreters: names first, whole definitions on demand. */

const TARGET = '@catalog/';
const DETAILS = ['name', 'name+description'] as const;
/** As many hits as a program that returns them should show a model. */
const DEFAULT_HITS = 10;
const MAX_HITS = 1_000;
const MAX_SHOWN_CHARACTERS = 80;
/** Limit for a description in a manifest; the definition has the whole text. */
const MAX_DESCRIPTION_CHARACTERS = 200;

export function isToolCatalog(target: string): boolean {
  return target.startsWith(TARGET);
}

/** Answers from the program's own snapshot. An invalid question is an error of the program, with the correct form in the hint. */
export function answerToolCatalog(
  target: string,
  [question]: readonly JsonValue[],
  context: CatalogContext,
): CallReply {
  const name = target.slice(TARGET.length);
  // Other contracts use `searchTools("words")`.
  const asked = isJsonObject(question) ? question : typeof question === 'string' ? { query: question } : {};
  const answer =
    name === 'searchTools'
      ? searchTools(asked, context)
      : name === 'getToolDefinition'
        ? getToolDefinition(asked, context)
        : refusal('CatalogError', `the catalog has no ${name}`, 'Use searchTools or getToolDefinition.');
  return 'errorClass' in answer ? { ok: false, error: answer } : { ok: true, json: JSON.stringify(answer.found) };
}

/** What questions are answered from, and the languages whose names are given. */
export interface CatalogContext {
  readonly snapshot: CatalogSnapshot;
  readonly catalog: Catalog;
  readonly languages: readonly ProcessLanguage[];
  readonly observedTypeOf?: ObservedTypeOf;
}

export type CatalogAnswer<Found extends JsonValue = JsonValue> = { readonly found: Found } | GuestError;

/** Manifest entries of the matching tools. */
export function searchTools(
  { query = '', serverId, detail = 'name+description', limit }: JsonObject,
  { snapshot, catalog, languages, observedTypeOf }: CatalogContext,
): CatalogAnswer<JsonObject[]> {
  if (typeof query !== 'string') return wrong('query', 'a string', query);
  if (!DETAILS.some((each) => each === detail))
    return wrong('detail', DETAILS.map((each) => JSON.stringify(each)).join(' or '), detail);
  const most = limit ?? (query.trim() === '' ? MAX_HITS : DEFAULT_HITS);
  if (typeof most !== 'number' || !Number.isInteger(most) || most < 1)
    return wrong('limit', `a whole number from 1 to ${MAX_HITS}`, most);
  const only = serverId === undefined || serverId === null ? undefined : serverOf(serverId, snapshot);
  if (only !== undefined && 'errorClass' in only) return only;
  const hits = catalog.search(
    query,
    { limit: Math.min(most, MAX_HITS), ...omitUndefined({ serverId: only?.id }) },
    snapshot,
  );
  const tools = hits.flatMap(({ tool }) => {
    const server = snapshot.servers.find(({ id }) => id === tool.serverId);
    return (server && snapshot.toolByTarget.get(`${server.path}/${tool.name}`)) ?? [];
  });
  const namesOf = programNames(snapshot, languages);
  return { found: tools.map((tool) => manifestEntry(tool, detail === 'name', namesOf(tool), observedTypeOf)) };
}

/** A server's whole definition of one tool, and how programs call it. */
export function getToolDefinition(
  { serverId, name }: JsonObject,
  { snapshot, catalog, languages }: CatalogContext,
): CatalogAnswer<JsonObject> {
  const server = serverOf(serverId, snapshot);
  if ('errorClass' in server) return server;
  if (typeof name !== 'string') return wrong('name', 'the name of a tool', name);
  const found = server.tools.find(({ tool }) => tool.name === name || visibleLine(tool.name) === name);
  if (found === undefined) return noSuchTool(name, server, catalog);
  return { found: definitionOf(found, programNames(snapshot, languages)(found)) };
}

/** `module` and `function` are what a program writes. With several languages each has its own names, and there is no signature. */
function manifestEntry(
  found: CatalogTool,
  isNameOnly: boolean,
  names: JsonObject,
  observedTypeOf: ObservedTypeOf | undefined,
): JsonObject {
  const named = namedEntry(found, names);
  if (isNameOnly) return named;
  const { tool } = found;
  const { function: name } = names;
  return {
    ...named,
    ...(typeof name === 'string' ? { signature: markedSignature(found, name, observedTypeOf?.(tool)) } : {}),
    ...wordsOf(found, (text) => firstSentences(text, MAX_DESCRIPTION_CHARACTERS)),
  };
}

function namedEntry({ tool, server }: CatalogTool, names: JsonObject): JsonObject {
  return { serverId: server.id, toolName: visibleLine(tool.name), ...names };
}

function wordsOf({ tool: { title, description }, asks }: CatalogTool, shorten = (text: string) => text): JsonObject {
  return {
    ...(asks === true ? { asks } : {}),
    ...omitUndefined({
      title,
      description: ifDefined(description, (description) => shownDescription(shorten(description))),
    }),
  };
}

function definitionOf(found: CatalogTool, names: JsonObject): JsonObject {
  const { name, inputSchema, outputSchema, annotations, icons } = found.tool;
  return {
    ...namedEntry(found, names),
    ...wordsOf(found),
    // The protocol's field, beside the manifest's own.
    name: visibleLine(name),
    inputSchema: inputSchema === undefined ? { type: 'object' } : shownSchema(inputSchema),
    ...omitUndefined({
      outputSchema: ifDefined(outputSchema, shownSchema),
      annotations: ifDefined(annotations, (annotations) => ({ ...annotations }) as JsonObject),
      icons: ifDefined(icons, (icons) => [...icons]),
    }),
  };
}

function serverOf(serverId: JsonValue | undefined, snapshot: CatalogSnapshot): CatalogServer | GuestError {
  if (typeof serverId !== 'string') return wrong('serverId', 'the name of a server', serverId);
  return serverNamed(serverId, snapshot) ?? noSuchServer(serverId, snapshot);
}

/** The server that a catalog question names, if any. */
export function serverInQuestion(
  [question]: readonly JsonValue[],
  snapshot: CatalogSnapshot,
): CatalogServer | undefined {
  const serverId = isJsonObject(question) ? question.serverId : undefined;
  return typeof serverId === 'string' ? serverNamed(serverId, snapshot) : undefined;
}

export function noSuchServer(serverId: string, { servers, notice }: CatalogSnapshot): GuestError {
  const known = servers.map(({ id }) => id);
  const close = nearest(serverId, known, 3);
  const there =
    known.length === 0 ? (notice ?? 'No server is connected.') : `There are: ${known.slice(0, 30).join(', ')}.`;
  const hint = close.length > 0 ? `Did you mean ${close.join(' or ')}?` : there;
  return refusal('ServerNotFound', `there is no server ${shown(serverId)}`, hint);
}

export function noSuchTool(name: string, server: CatalogServer, catalog: Pick<Catalog, 'startingNote'>): GuestError {
  if (server.isStarting === true)
    return refusal('ServerNotFound', `${server.id}: ${catalog.startingNote(server.id)}`, STARTING_HINT);
  if (server.tools.length === 0 && server.problem !== undefined)
    return refusal('ServerNotFound', `${server.id} is not available: ${server.problem}`, DOWN_HINT);
  const direct = notForCode(name, server);
  if (direct !== undefined) return refusal('ToolNotFound', direct.message, direct.hint);
  const names = server.tools.map(({ tool }) => visibleLine(tool.name));
  const close = nearest(name, names, 3);
  const hint =
    close.length > 0
      ? `Did you mean ${close.join(' or ')}?`
      : `Look for it: await catalog.searchTools({ serverId: ${shown(server.id)} })`;
  return refusal('ToolNotFound', `${server.id} has no tool ${shown(name)}`, hint);
}

function wrong(field: string, expected: string, received: JsonValue | undefined): GuestError {
  return refusal('InvalidArguments', `${field} must be ${expected}, not ${shown(received)}`, `Pass ${expected}.`);
}

function refusal(errorClass: string, message: string, hint: string): GuestError {
  return { errorClass, message, hint };
}

function shown(value: JsonValue | undefined): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, MAX_SHOWN_CHARACTERS);
}
