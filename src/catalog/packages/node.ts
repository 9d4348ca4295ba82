import { quoteVisibly } from '../../lib/visible-text.js';
import { docComment } from '../declarations/doc-comment.js';
import { declarePackageFile } from '../declarations/typescript.js';
import { serverDocs, toolDocs } from '../declarations/typescript-docs.js';
import { PACKAGE_CLIENT_DECLARATIONS } from '../declarations/typescript-frames.js';
import { camelCaseNames } from '../package-names.js';
import { metaOf, type ServerPackage, sortedTools } from './server-package.js';

/** `servers/<module>/` for Node: `index.js` and its declarations. Names of tools never begin with `_` and a letter. */
export function nodePackage({ server, isBrief }: ServerPackage): ReadonlyMap<string, string> {
  const tools = sortedTools(server);
  const names = camelCaseNames(tools.map(({ name }) => name));
  const functions = tools.map((tool) => {
    const name = names.get(tool.name) as string;
    const docs = docComment(toolDocs(tool, name, [], isBrief ? 'signatures' : 'compact'), '');
    return `${docs}export async function ${name}(input) {
  return await _callTool(${quoteVisibly(server.path)}, ${quoteVisibly(tool.name)}, input);
}
`;
  });
  const words = docComment(serverDocs(server.description ?? '', 'compact'), '');
  const meta = `export const __meta__ = ${quotedMeta(metaOf(server, names))};\n`;
  const files = new Map([
    [
      'index.js',
      `import { callTool as _callTool } from "../../client/mcp_client.js";\n\n${words}${meta}\n${functions.join('\n')}`,
    ],
  ]);
  if (isBrief) return files;
  const { text } = declarePackageFile({
    path: server.path,
    serverId: server.id,
    serverName: server.name,
    ...(server.description === undefined ? {} : { serverDescription: server.description }),
    tools,
    exportNames: names,
  });
  return files.set('index.d.ts', text);
}

/** What all servers share: the types of the client, and the normalised shape of results. */
export const NODE_CLIENT_FILES: ReadonlyMap<string, string> = new Map([
  ['client/mcp_client.d.ts', PACKAGE_CLIENT_DECLARATIONS],
  [
    'client/results.js',
    `import { ToolError } from './mcp_client.js';

/** What a call came to, in one shape: { ok: true, data, raw } or { ok: false, error, raw }. Takes the call or its result. */
export async function normalize(call) {
  let raw;
  try {
    raw = await call;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { type, message, retryable } = error;
    return { ok: false, error: { type, message, retryable }, raw: error.raw };
  }
  const data = dataOf(raw);
  if (raw?.isError !== true) return { ok: true, data, raw };
  const message = typeof data === 'string' ? data : JSON.stringify(data);
  return { ok: false, error: { type: 'ToolCallError', message, retryable: false }, raw };
}

/** The structured value, else the text where there is nothing else, else the content. */
export function dataOf(result) {
  if (result?.structuredContent !== undefined) return result.structuredContent;
  const content = result?.content;
  if (!Array.isArray(content)) return result;
  return content.length === 1 && content[0]?.type === 'text' ? content[0].text : content;
}
`,
  ],
  [
    'client/results.d.ts',
    `import type { ContentBlock, StructuredResult, ToolResult } from "./mcp_client.js";

export type ToolCallResult<Value> =
  | { ok: true; data: Value; raw: any }
  | { ok: false; error: { type: string; message: string; retryable: boolean }; raw?: any };
/** What a call came to, in one shape. Takes the call or its result. */
export function normalize<Value>(call: StructuredResult<Value> | Promise<StructuredResult<Value>>): Promise<ToolCallResult<Value>>;
export function normalize(call: ToolResult | Promise<ToolResult>): Promise<ToolCallResult<unknown>>;
/** The structured value, else the text where there is nothing else, else the content. */
export function dataOf<Value>(result: StructuredResult<Value>): Value;
export function dataOf(result: ToolResult): unknown;
`,
  ],
]);

function quotedMeta(meta: ReturnType<typeof metaOf>): string {
  const tools = meta.tools.map(
    ({ toolName, exportName }) =>
      `\n    { toolName: ${quoteVisibly(toolName)}, exportName: ${quoteVisibly(exportName)} },`,
  );
  const version = meta.serverVersion === undefined ? '' : `\n  serverVersion: ${quoteVisibly(meta.serverVersion)},`;
  return `{
  serverId: ${quoteVisibly(meta.serverId)},
  serverName: ${quoteVisibly(meta.serverName)},${version}
  tools: [${tools.join('')}
  ],
}`;
}
