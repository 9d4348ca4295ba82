// Who may import whom. `npm run check` enforces it through scripts/check-layers.mjs; the reasons are in
// ARCHITECTURE.md. compose/compose.ts, index.ts, main.ts and bin.ts stand directly in src and may import anything.

/** What each folder of src may reach, besides itself and the two folders that are free for all. */
const MAY_IMPORT = {
  domain: ['lib'],
  lib: [],
  start: [],
  wire: [],
  store: [],
  config: [],
  upstream: [],
  telemetry: [],
  worker: ['wire'],
  sandbox: ['wire'],
  broker: ['upstream', 'store'],
  catalog: ['upstream', 'store'],
  host: ['broker', 'catalog', 'sandbox', 'store'],
  profiles: ['host', 'config'],
  surfaces: ['profiles', 'host', 'config'],
};
const FREE = ['domain', 'lib'];

/** Powers that one folder holds for all. The module is a regular expression over the resolved path. */
const ONE_HOME = {
  // Workers, servers on a pipe, the user's own hooks, and the person's own browser for a login.
  child_process: '^src/(sandbox/|upstream/mcp/stdio/stdio|broker/hooks/command-hook|surfaces/cli/open-browser)',
  '@modelcontextprotocol/client': '^src/upstream/mcp/',
  '@modelcontextprotocol/server': '^src/surfaces/mcp/',
  libsql: '^src/store/sqlite/',
  // The host never parses or evaluates what an agent wrote: the engines live in the jail.
  'quickjs-wasi': '^src/worker/',
  'oxc-transform': '^src/worker/',
  // And what loads the parts of the program itself.
  vm: '^src/(worker|start)/',
};
/** Tests, and what only they use. */
const TESTS = '\\.test(-support)?\\.ts$';

const layers = Object.entries(MAY_IMPORT).map(([folder, below]) => {
  const reachable = [folder, ...below, ...(FREE.includes(folder) ? [] : FREE)];
  return {
    name: `${folder}-reaches-only-below`,
    severity: 'error',
    from: { path: `^src/${folder}/`, pathNot: TESTS },
    to: { path: '^src/', pathNot: `^src/(${reachable.join('|')})/` },
  };
});

const siblings = [
  { name: 'profiles-do-not-know-each-other', folder: 'profiles', shared: [] },
  { name: 'surfaces-share-only-http', folder: 'surfaces', shared: ['http'] },
].map(({ name, folder, shared }) => ({
  name,
  severity: 'error',
  from: { path: `^src/${folder}/([^/]+)/`, pathNot: TESTS },
  to: { path: `^src/${folder}/[^/]+/`, pathNot: `^src/${folder}/(${['$1', ...shared].join('|')})/` },
}));

const powers = Object.entries(ONE_HOME).map(([module, home]) => ({
  name: `${module.replace(/\W+/g, '-').replace(/^-/, '')}-has-one-home`,
  severity: 'error',
  from: { path: '^src/', pathNot: [home, TESTS] },
  to: { path: `(^|^node:|node_modules/)${module}(/|$)` },
}));

const walls = [
  {
    name: 'every-folder-is-in-the-table',
    comment: 'A new folder of src gets its line in MAY_IMPORT before it gets its first import.',
    severity: 'error',
    from: { path: '^src/[^/]+/', pathNot: [`^src/(compose|${Object.keys(MAY_IMPORT).join('|')})/`, TESTS] },
    to: {},
  },
  {
    name: 'worker-does-not-parse-for-the-host',
    comment: 'The worker needs the types of the wire only; the validator stays out of the jail.',
    severity: 'error',
    from: { path: '^src/worker/', pathNot: TESTS },
    to: { path: '^src/wire/parse' },
  },
  {
    name: 'guest-sees-no-node',
    comment: 'The guest runs in an engine without Node.',
    severity: 'error',
    from: { path: '^src/worker/quickjs/guest/', pathNot: TESTS },
    to: { dependencyTypes: ['core'] },
  },
  {
    name: 'console-knows-types-of-the-domain',
    comment: 'It runs in a browser. The API is its contract, and text from outside is shown by one rule everywhere.',
    severity: 'error',
    from: { path: '^console/' },
    to: {
      path: '^(src|test|bench|scripts)/',
      pathNot: ['^src/domain/console/api\\.ts$', '^src/lib/(text/visible-text|omit-undefined)\\.ts$'],
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: 'console-knows-only-the-domain',
    severity: 'error',
    from: { path: '^console/' },
    to: { path: '^src/', pathNot: ['^src/domain/', '^src/lib/(text/visible-text|omit-undefined)\\.ts$'] },
  },
  {
    name: 'console-sees-no-node',
    severity: 'error',
    from: { path: '^console/src/' },
    to: { dependencyTypes: ['core'] },
  },
  {
    name: 'product-does-not-know-its-console',
    comment: 'The console is files that the host serves.',
    severity: 'error',
    from: { path: '^src/' },
    to: { path: '^console/' },
  },
  {
    name: 'product-does-not-know-its-tests',
    severity: 'error',
    from: { path: '^src/', pathNot: TESTS },
    to: { path: ['^(test|bench|scripts)/', TESTS] },
  },
  {
    name: 'imports-resolve',
    severity: 'error',
    from: { path: '^(src|console)/' },
    to: { couldNotResolve: true },
  },
];

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...layers,
    ...siblings,
    ...powers,
    ...walls,
  ],
  options: {
    tsPreCompilationDeps: true, // a type-only import is still a dependency of meaning
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
};
