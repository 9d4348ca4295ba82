// @ts-check
// Bundles the program and the library with the packages that every start needs. Split, so that `await import()` of a
// part loads it then and not before. See docs/decisions/0010-packages-in-the-bundle.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, transform } from 'esbuild';
import { ROOT } from './house.mjs';

const ENTRIES = ['src/main.ts', 'src/index.ts', 'src/langchain.ts', 'src/ai-sdk.ts'];

/** Starts `main.js`, on a Node that is new enough. As it is written, without imports: an old Node must be able to parse it. */
const STARTER = 'src/bin.ts';

/** With what they need themselves. All others are loaded from node_modules, by the part that uses them. */
const BUNDLED = [
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  'commander',
  're2js',
  'smol-toml',
  'yaml',
  'zod',
];

/** @param {string} outdir relative to the root @returns which files went into it */
export async function bundleHost(outdir) {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    outdir,
    bundle: true,
    splitting: true,
    // Beside the entries, which find `worker/` from there.
    chunkNames: 'part-[hash]',
    external: Object.keys(dependencies).filter((name) => !BUNDLED.includes(name)),
    plugins: [smallPackages, noSchemaCompiler],
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    // Packages in the older module format ask for Node's own modules in their way.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module';const require = requireFrom(import.meta.url);",
    },
    legalComments: 'none',
    sourcemap: 'linked',
    // Stack traces need the map, not a second copy of the source in it.
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  });
  await build({
    absWorkingDir: ROOT,
    entryPoints: [STARTER],
    outdir,
    bundle: false,
    target: 'es2020',
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'warning',
  });
  return Object.keys(metafile.inputs);
}

/** What the engine must read before it runs anything is a fifth of a start; our own code stays as it is in stack traces. */
const smallPackages = {
  name: 'small-packages',
  /** @param {import('esbuild').PluginBuild} bundler */
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path }) => {
      const options = /** @type {const} */ ({ loader: 'js', minify: true, keepNames: false, legalComments: 'none' });
      return { contents: (await transform(readFileSync(path, 'utf8'), options)).code, loader: 'js' };
    });
  },
};

/**
 * The protocol's libraries bring a validator that compiles schemas to code, as a default that we never use: it would be
 * most of what they weigh, and foreign schemas must not get to it.
 */
const noSchemaCompiler = {
  name: 'no-schema-compiler',
  /** @param {import('esbuild').PluginBuild} bundler */
  setup({ onResolve, onLoad }) {
    const namespace = 'no-schema-compiler';
    onResolve({ filter: /^@modelcontextprotocol\/(client|server)\/_shims$/ }, ({ path }) => ({ path, namespace }));
    onLoad({ filter: /.*/, namespace }, () => ({ contents: SHIMS, loader: 'js', resolveDir: ROOT }));
  },
};

/** The names that the libraries take from `_shims` on Node. */
const SHIMS = `
  import process from 'node:process';
  export { process };
  export const CORS_IS_POSSIBLE = false;
  export class DefaultJsonSchemaValidator {
    getValidator() { throw new Error('schemas are not compiled here: pass a jsonSchemaValidator'); }
  }`;
