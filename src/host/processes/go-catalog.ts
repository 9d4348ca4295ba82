import type { Catalog } from '../../catalog/catalog.js';
import { firstSentences } from '../../catalog/declarations/doc-comment.js';
import type { CatalogSnapshot } from '../../catalog/snapshot.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { CallReply, GuestError } from '../../domain/run.js';
import { nearest } from '../../lib/nearest.js';
import { visibleText } from '../../lib/visible-text.js';
import { goDeclarationsOf, goToolsOf } from './go-package.js';

/** `searchTools` and `describeTools` of programs in Go: names first, types on demand. */

const TARGET = '@go/';
/** As many as a program that prints them should show a model. */
const DEFAULT_HITS = 10;
const MAX_HITS = 2_000;
const MAX_DESCRIBED = 200;
const MAX_DESCRIPTION_CHARACTERS = 160;

export function isGoCatalog(target: string): boolean {
  return target.startsWith(TARGET);
}

/** Answers from the program's own snapshot. A wrong question is an error of the program, with the right one in the hint. */
export function answerGoCatalog(
  target: string,
  [question]: readonly JsonValue[],
  snapshot: CatalogSnapshot,
  catalog: Catalog,
): CallReply {
  const asked = isJsonObject(question) ? question : {};
  const name = target.slice(TARGET.length);
  const answer =
    name === 'searchTools'
      ? search(asked, snapshot, catalog)
      : name === 'describeTools'
        ? describe(asked, snapshot)
        : refusal(`there is no ${name.slice(0, MAX_DESCRIPTION_CHARACTERS)}`, 'Use searchTools or describeTools.');
  return 'errorClass' in answer ? { ok: false, error: answer } : { ok: true, json: JSON.stringify(answer.found) };
}

type Answer = { readonly found: JsonValue } | GuestError;

function search({ query }: JsonObject, snapshot: CatalogSnapshot, catalog: Catalog): Answer {
  if (typeof query !== 'string') return refusal('the query is not text', 'Pass words as a string.');
  const { functionByTool } = goToolsOf(snapshot);
  const limit = query.trim() === '' ? MAX_HITS : DEFAULT_HITS;
  const hits = catalog.search(query, { limit }, snapshot);
  const found = hits.flatMap(({ tool: { serverId, name } }): JsonObject[] => {
    // What is excluded from code, or denied, is in the catalog and not in the snapshot.
    const server = snapshot.servers.find(({ id }) => id === serverId);
    const tool = server && snapshot.toolByTarget.get(`${server.path}/${name}`)?.tool;
    const functionName = tool && functionByTool.get(tool);
    if (tool === undefined || functionName === undefined) return [];
    // The first line alone is often a heading: "Purpose:".
    const words = visibleText(tool.description ?? tool.title ?? '')
      .replace(/\s+/g, ' ')
      .trim();
    const description = firstSentences(words, MAX_DESCRIPTION_CHARACTERS);
    return [{ server: serverId, tool: name, function: functionName, description }];
  });
  return { found };
}

function describe({ functions }: JsonObject, snapshot: CatalogSnapshot): Answer {
  const names = Array.isArray(functions) ? functions.filter((name) => typeof name === 'string') : [];
  if (names.length === 0) return refusal('no function is named', 'Pass names: describeTools(ctx, "getWeather").');
  if (names.length > MAX_DESCRIBED)
    return refusal(`${names.length} functions are too many`, `Ask for at most ${MAX_DESCRIBED} at once.`);
  const { toolByFunction } = goToolsOf(snapshot);
  const unknown = names.find((name) => !toolByFunction.has(name));
  if (unknown === undefined) return { found: goDeclarationsOf(names, snapshot) };
  const close = nearest(unknown, [...toolByFunction.keys()], 3);
  return refusal(
    `there is no function ${JSON.stringify(unknown.slice(0, MAX_DESCRIPTION_CHARACTERS))}`,
    close.length > 0 ? `Did you mean ${close.join(' or ')}?` : 'Look for it with searchTools(ctx, "words").',
  );
}

function refusal(message: string, hint: string): GuestError {
  return { errorClass: 'ToolNotFound', message, hint };
}
