import { fields, text, tool } from '../build.mjs';

/** A server with one tool, as small as they come. */
export const queryDesk = {
  id: 'q',
  server: 'Query desk',
  version: '1',
  tools: [tool('query', 'Runs a query over the tables of the herbarium. Reading only.', fields({ sql: text() }))],
};
