import { omitUndefined } from '../../lib/omit-undefined.js';
import { quoteVisibly } from '../../lib/text/visible-text.js';
import { docComment } from '../declarations/doc-comment.js';
import { declarePackageFile } from '../declarations/typescript/typescript.js';
import { serverDocs, toolDocs } from '../declarations/typescript/typescript-docs.js';
import { PACKAGE_CLIENT_DECLARATIONS } from '../declarations/typescript/typescript-frames.js';
import { camelCaseNames } from '../package-names.js';
import { allToolNames, askingTools } from '../snapshot.js';
import { metaOf, namesOf, type ServerPackage, sortedTools } from './server-package.js';
import { unavailabilityOf, unavailableNodeModule } from './unavailable.js';

/** `servers/<module>/` for Node: `index.js` and its declarations. Names of tools never begin with `_` and a letter. */
export function nodePackage({ server, isBrief }: ServerPackage): ReadonlyMap<string, string> {
  const unavailable = unavailabilityOf(server);
  if (unavailable !== undefined) return new Map([['index.js', unavailableNodeModule(unavailable)]]);
  const tools = sortedTools(server);
  const names = namesOf(tools, camelCaseNames(allToolNames(server)));
  const asking = askingTools(server.tools);
  const functions = tools.map((tool) => {
    const name = names.get(tool.name) as string;
    const docs = docComment(
      toolDocs(tool, name, [], isBrief ? 'signatures' : 'compact', { asks: asking.has(tool.name) }),
      '',
    );
    // Not async: the client detects whether the program awaits the promise that it returned.
    return `${docs}export function ${name}(input) {
  return _callTool(${quoteVisibly(server.id)}, ${quoteVisibly(tool.name)}, input);
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
    path: server.id,
    serverId: server.id,
    serverName: server.name,
    ...omitUndefined({ serverDescription: server.description }),
    tools,
    exportNames: names,
    asking,
  });
  return files.set('index.d.ts', text);
}

/** The files that all servers share: the types of the client. */
export const NODE_CLIENT_FILES: ReadonlyMap<string, string> = new Map([
  ['client/mcp_client.d.ts', PACKAGE_CLIENT_DECLARATIONS],
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
