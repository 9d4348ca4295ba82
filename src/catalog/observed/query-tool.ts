import { isJsonObject } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';

const QUERY_NAMES =
  /^(?:sql|sql_?query|query|query_?string|statement|stmt|graphql|cypher|sparql|soql|kql|jq|code|script|expression)$/i;
/**
 * Languages in which the caller determines the columns of the result. A search has a query too, but its results always have the
 * same form.
 */
const LANGUAGES =
  /\b(?:(?:postgre|my|ms|no)?sql(?:ite)?|graphql|cypher|sparql|soql|kql|promql|duckdb|bigquery|snowflake|clickhouse|mongo(?:db)?|jq|select\s)/i;
const MAX_CHARACTERS = 2_000;

/** Whether a tool runs a query in which the caller chooses the columns. */
export function takesQuery({ serverId, name, description, inputSchema }: Tool): boolean {
  const properties = inputSchema?.properties;
  if (!isJsonObject(properties)) return false;
  const query = Object.entries(properties)
    .slice(0, MAX_PROPERTIES)
    .find(([key]) => QUERY_NAMES.test(key));
  if (query === undefined) return false;
  const said = isJsonObject(query[1]) && typeof query[1].description === 'string' ? query[1].description : '';
  const words = [serverId, name, query[0], description ?? '', said].map((text) => text.slice(0, MAX_CHARACTERS));
  return LANGUAGES.test(words.join(' ').replaceAll('_', ' '));
}

const MAX_PROPERTIES = 100;
