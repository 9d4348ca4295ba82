// @ts-check
// Bundles the program and the library with all packages that are plain JavaScript. Split, so that `await import()` of a
// part loads it then and not before. See docs/decisions/0032-only-native-packages-are-installed.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, transform } from 'esbuild';
import { ROOT } from './house.mjs';

const ENTRIES = ['src/main.ts', 'src/index.ts', 'src/langchain.ts', 'src/ai-sdk.ts'];

/** Starts `main.js`, on a Node that is new enough. As it is written, without imports: an old Node must be able to parse it. */
const STARTER = 'src/bin.ts';

/** @param {string} outdir relative to the root @returns which files went into it */
export async function bundleHost(outdir) {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    outdir,
    bundle: true,
    splitting: true,
    // Beside the entries, which find `worker/` from there.
    chunkNames: 'part-[hash]',
    external: Object.keys({ ...dependencies, ...optionalDependencies }),
    plugins: [unusedPackages, smallPackages, noSchemaCompiler],
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    // Packages in the older module format ask for Node's own modules in their way.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module';const require = requireFrom(import.meta.url);",
    },
    legalComments: 'none',
    // For tests that ask which source is in which part. Not published: our own code is not minified, so stack traces have
    // its names without a map.
    sourcemap: 'external',
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

/**
 * Packages that the bundled ones load only for features that we do not use, with the reason. Loading one throws, so that a
 * change that starts to use such a feature fails in the first test that gets there.
 */
const UNUSED = {
  pino: 'fastify is created with `logger: false`',
  'light-my-request': '`inject` of fastify is for tests',
  '@fastify/ajv-compiler': 'routes have no schema: requests are read with zod',
  '@fastify/fast-json-stringify-compiler': 'routes have no schema: requests are read with zod',
};

/** Written here, because the package comes without the text of its licence: what fastify logs to where nobody listens. */
const NULL_LOGGER = `
  const nothing = () => {};
  module.exports = { fatal: nothing, error: nothing, warn: nothing, info: nothing, debug: nothing, trace: nothing };`;

const unusedPackages = {
  name: 'unused-packages',
  /** @param {import('esbuild').PluginBuild} bundler */
  setup({ onResolve, onLoad }) {
    const namespace = 'unused-packages';
    const names = [...Object.keys(UNUSED), 'abstract-logging'];
    onResolve({ filter: new RegExp(`^(${names.join('|')})$`) }, ({ path }) => ({ path, namespace }));
    onLoad({ filter: /.*/, namespace }, ({ path }) => {
      if (path === 'abstract-logging') return { contents: NULL_LOGGER };
      const reason = `${path} is not in the bundle: ${UNUSED[/** @type {keyof typeof UNUSED} */ (path)]}`;
      return { contents: `throw new Error(${JSON.stringify(reason)});` };
    });
  },
};

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
