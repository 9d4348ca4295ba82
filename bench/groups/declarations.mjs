// @ts-check
// Declarations of the corpus's tools, beside the package that most people would take for it.
import { createRequire } from 'node:module';
import { CORPUS_NAME, readToolsets } from '../corpus.mjs';
import { loadProduct } from '../product.mjs';
import { scaled, timeEach } from '../stats.mjs';

const NAME = 'declarations of tools, each';
const PEER = 'json-schema-to-typescript';

export async function measure({ quick, missing }) {
  const { declareModule } = await loadProduct();
  const servers = readToolsets().map(({ id, name, tools }) => ({ path: id, serverId: id, serverName: name, tools }));
  const count = servers.reduce((sum, { tools }) => sum + tools.length, 0);
  const declareAll = async () => {
    for (const server of servers) declareModule(server, { detail: 'full' });
  };
  await declareAll();
  const { p50, p95 } = await timeEach(scaled(20, quick), declareAll);
  const each = (ms) => (ms * 1_000) / count;
  return [
    {
      name: NAME,
      unit: 'us',
      p50: each(p50),
      p95: each(p95),
      note: `${count} tools of ${servers.length} servers, ${CORPUS_NAME}`,
    },
    await peerRow(servers, each, p50, missing),
  ];
}

async function peerRow(servers, each, oursMs, missing) {
  const name = `peer: ${PEER}`;
  if (missing[PEER] !== undefined) return { name, note: `not installed: ${missing[PEER]}` };
  const { compile } = createRequire(new URL('../peers/package.json', import.meta.url))(PEER);
  // Its fastest settings: no formatting, nothing read from elsewhere.
  const options = { bannerComment: '', format: false, $refOptions: { resolve: { http: false, file: false } } };
  const tools = servers.flatMap((server) => server.tools);
  const schemas = tools.flatMap(({ inputSchema, outputSchema }) => [inputSchema, outputSchema]).filter(Boolean);
  let failures = 0;
  const { p50, p95 } = await timeEach(2, async () => {
    failures = 0;
    for (const schema of schemas) {
      // It changes what it is given.
      await compile(structuredClone(schema), 'Type', options).catch(() => failures++);
    }
  });
  const note = failures === 0 ? '' : `${failures} schemas failed`;
  return { name, unit: 'us', p50: each(p50), p95: each(p95), ratio: p50 / oursMs, goal: { ratio: 5 }, note };
}
