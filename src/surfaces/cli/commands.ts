import type { Register } from './command.js';

/** Every command by its name, in the order in which `--help` lists them. */
const LOADERS: Readonly<Record<string, () => Promise<{ readonly register: Register }>>> = {
  mcp: () => import('./commands/mcp.js'),
  serve: () => import('./commands/serve.js'),
  console: () => import('./commands/console.js'),
  run: () => import('./commands/run.js'),
  code: () => import('./commands/code.js'),
  runner: () => import('./commands/runner.js'),
  scripts: () => import('./commands/scripts.js'),
  tools: () => import('./commands/tools.js'),
  types: () => import('./commands/types.js'),
  check: () => import('./commands/check.js'),
  prompt: () => import('./commands/prompt.js'),
  servers: () => import('./commands/servers.js'),
  approvals: () => import('./commands/approvals.js'),
  runs: () => import('./commands/runs.js'),
  replay: () => import('./commands/replay.js'),
  auth: () => import('./commands/auth.js'),
  audit: () => import('./commands/audit.js'),
  init: () => import('./commands/init.js'),
  add: () => import('./commands/add.js'),
  remove: () => import('./commands/remove.js'),
  install: () => import('./commands/install.js'),
  uninstall: () => import('./commands/uninstall.js'),
  config: () => import('./commands/config.js'),
  trust: () => import('./commands/trust.js'),
  policy: () => import('./commands/policy.js'),
  token: () => import('./commands/token.js'),
  store: () => import('./commands/store.js'),
  doctor: () => import('./commands/doctor.js'),
  measure: () => import('./commands/measure.js'),
  demo: () => import('./commands/demo.js'),
  completion: () => import('./commands/completion.js'),
  version: () => import('./commands/version.js'),
};

/** Prints the options of all other commands, so all of them are loaded. */
const ABOUT_ALL = 'completion';
const VERSION_FLAGS = ['-V', '--version'];
/** Options of `codemode` itself that take a value. */
const VALUE_OPTIONS = ['--config', '--project-folder', '--isolation'];

/**
 * The commands to load for these arguments. Loading all of them takes longer than most of them run. If the arguments name a
 * command, only that one is loaded.
 */
export async function commandsFor(words: readonly string[]): Promise<readonly Register[]> {
  const [first = ''] = words;
  if (VERSION_FLAGS.includes(first)) return [];
  const name = commandIn(words);
  if (name === undefined || name === ABOUT_ALL) return allCommands();
  return load([name]);
}

export function allCommands(): Promise<readonly Register[]> {
  return load(Object.keys(LOADERS));
}

/** The command that the arguments name. Undefined if that needs a full parse. */
function commandIn(words: readonly string[]): string | undefined {
  const [first = '', ...rest] = words;
  if (VALUE_OPTIONS.includes(first)) return commandIn(rest.slice(1));
  if (VALUE_OPTIONS.some((option) => first.startsWith(`${option}=`))) return commandIn(rest);
  return isCommand(first) ? first : undefined;
}

export function isCommand(word: string): boolean {
  return Object.hasOwn(LOADERS, word);
}

async function load(names: readonly string[]): Promise<readonly Register[]> {
  const modules = await Promise.all(names.map((name) => LOADERS[name]?.()));
  return modules.flatMap((module) => (module === undefined ? [] : [module.register]));
}
