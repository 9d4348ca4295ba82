import type { Catalog } from '../../catalog/catalog.js';
import { firstSentences } from '../../catalog/declarations/doc-comment.js';
import type { ObservedTypeOf } from '../../catalog/declarations/typescript/typescript.js';
import type { CatalogSnapshot } from '../../catalog/snapshot.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { CallReply, GuestError } from '../../domain/run.js';
import type { Tool } from '../../domain/tool.js';
import { nearest } from '../../lib/text/nearest.js';
import { visibleText } from '../../lib/text/visible-text.js';
import { goDeclarationsOf, goToolsOf } from './go-package.js';
import { goSignature, observedIn } from './go-signature.js';

/** `searchTools` and `describeTools` of programs in Go: names first, types on demand. */

const TARGET = '@go/';
/** As many hits as a program that prints them should show a model. */
const DEFAULT_HITS = 10;
const MAX_HITS = 2_000;
const MAX_DESCRIBED = 200;
const MAX_DESCRIPTION_CHARACTERS = 160;

export function isGoCatalog(target: string): boolean {
  return target.startsWith(TARGET);
}

/** Answers from the program's own snapshot. An invalid question is an error of the program, with the correct form in the hint. */
export function answerGoCatalog(
  target: string,
  [question]: readonly JsonValue[],
  snapshot: CatalogSnapshot,
  catalog: Catalog,
  observedTypeOf?: ObservedTypeOf,
): CallReply {
  const asked = isJsonObject(question) ? question : {};
  const name = target.slice(TARGET.length);
  const answer =
    name === 'searchTools'
      ? search(asked, snapshot, catalog, observedTypeOf)
      : name === 'describeTools'
        ? describe(asked, snapshot, observedTypeOf)
        : refusal(`there is no ${name.slice(0, MAX_DESCRIPTION_CHARACTERS)}`, 'Use searchTools or describeTools.');
  return 'errorClass' in answer ? { ok: false, error: answer } : { ok: true, json: JSON.stringify(answer.found) };
}

type Answer = { readonly found: JsonValue } | GuestError;

function search(
  { query }: JsonObject,
  snapshot: CatalogSnapshot,
  catalog: Catalog,
  observedTypeOf: ObservedTypeOf | undefined,
): Answer {
  if (typeof query !== 'string') return refusal('the query is not text', 'Pass words as a string.');
  const tools = goToolsOf(snapshot);
  const isListing = query.trim() === '';
  const limit = isListing ? MAX_HITS : DEFAULT_HITS;
  const hits = catalog.search(query, { limit }, snapshot);
  const found = hits.flatMap(({ tool: { serverId, name } }): JsonObject[] => {
    // Tools that are excluded from code or denied are in the catalog but not in the snapshot.
    const server = snapshot.servers.find(({ id }) => id === serverId);
    const tool = server && snapshot.toolByTarget.get(`${server.path}/${name}`)?.tool;
    const functionName = tool && tools.functionByTool.get(tool);
    if (tool === undefined || functionName === undefined) return [];
    // The first line alone is often only a heading: "Purpose:".
    const words = visibleText(tool.description ?? tool.title ?? '')
      .replace(/\s+/g, ' ')
      .trim();
    const description = firstSentences(words, MAX_DESCRIPTION_CHARACTERS);
    // A program picks from a full list by name, so thousands of signatures would be wasted.
    const signature = isListing ? '' : goSignature(functionName, tool, tools, observedTypeOf);
    return [{ server: serverId, tool: name, function: functionName, signature, description }];
  });
  return { found };
}

function describe(
  { functions }: JsonObject,
  snapshot: CatalogSnapshot,
  observedTypeOf: ObservedTypeOf | undefined,
): Answer {
  const names = Array.isArray(functions) ? functions.filter((name) => typeof name === 'string') : [];
  if (names.length === 0) return refusal('no function is named', 'Pass names: describeTools(ctx, "getWeather").');
  if (names.length > MAX_DESCRIBED)
    return refusal(`${names.length} functions are too many`, `Ask for at most ${MAX_DESCRIBED} at once.`);
  const { toolByFunction } = goToolsOf(snapshot);
  const seenOf = (functions: readonly string[]) =>
    functions
      .map((name) => [name, observedIn(toolByFunction.get(name) as Tool, observedTypeOf)] as const)
      .flatMap(([name, seen]) => (seen === '' ? [] : [`// ${name}:${seen.slice(3)}\n`]))
      .join('');
  const unknown = names.find((name) => !toolByFunction.has(name));
  if (unknown === undefined) return { found: `${goDeclarationsOf(names, snapshot)}${seenOf(names)}` };
  const close = nearest(unknown, [...toolByFunction.keys()], 3);
  return refusal(
    `there is no function ${JSON.stringify(unknown.slice(0, MAX_DESCRIPTION_CHARACTERS))}`,
    close.length > 0 ? `Did you mean ${close.join(' or ')}?` : 'Look for it with searchTools(ctx, "words").',
  );
}

function refusal(message: string, hint: string): GuestError {
  return { errorClass: 'ToolNotFound', message, hint };
}
