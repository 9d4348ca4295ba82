// biome-ignore-all lint/style/useTemplate: the engine turns template literals into calls of String.prototype.concat, which a program can patch.
import { host } from '../../quickjs/guest/host.js';
import { CLASSES } from './engine-errors.js';

/**
 * Replaces `quickjs/guest/stack.ts`: stacks that look like those of QuickJS. V8 formats a stack when it is first read, so
 * positions are mapped then and cost nothing otherwise.
 */
const apply = Reflect.apply;
const defineProperty = Object.defineProperty;
const raws = new WeakMap<object, string>();
const { get: getRaw, set: setRaw } = WeakMap.prototype;

interface CallSite {
  getFunctionName(): string | null;
  getFileName(): string | null;
  getLineNumber(): number | null;
  getColumnNumber(): number | null;
  isNative(): boolean;
  isAsync(): boolean;
}

/** The frames of an error, with positions in the executed code. */
export function rawStackOf(error: unknown): string {
  // Reading the stack creates it.
  if (typeof error !== 'object' || error === null || (error as Error).stack === undefined) return '';
  return (apply(getRaw, raws, [error]) as string | undefined) ?? '';
}

/** The frames of an error, mapped, without its name and message. */
export function framesOf(error: unknown): string {
  return host.mapStack(rawStackOf(error));
}

export function titleOf(error: { readonly name?: unknown; readonly message?: unknown }): string {
  const name = typeof error.name === 'string' ? error.name : 'Error';
  const message = typeof error.message === 'string' ? error.message : '';
  return message === '' ? name : name + ': ' + message;
}

export function installStack(): void {
  const prepare = (error: Error, sites: readonly CallSite[]): string => {
    let raw = '';
    for (let index = 0; index < sites.length; index++) raw += frameOf(sites[index] as CallSite);
    apply(setRaw, raws, [error, raw]);
    return titleOf(error) + '\n' + host.mapStack(raw);
  };
  defineProperty(Error, 'prepareStackTrace', { value: prepare, writable: false, configurable: false });
}

/** Frames of Node and of awaiting functions are hidden: QuickJS has none. */
function frameOf(site: CallSite): string {
  const file = site.getFileName();
  if (site.isAsync() || (file !== null && apply(startsWith, file, ['node:']))) return '';
  const name = site.getFunctionName() ?? '<anonymous>';
  // The constructor of `engine-errors.ts`, which is native in QuickJS.
  if (file === 'codemode:boot' && apply(includes, CLASSES, [name])) return '';
  if (file === null) return '    at ' + name + ' (native)\n';
  return '    at ' + name + ' (' + file + ':' + site.getLineNumber() + ':' + site.getColumnNumber() + ')\n';
}

const { startsWith } = String.prototype;
const { includes } = Array.prototype;
