import { BINDINGS_MODULE } from './image.js';
import type { Library } from './library.js';
import type { QuickJsRunOptions } from './run-state.js';

interface Import extends Pick<QuickJsRunOptions, 'form'> {
  readonly importer: string;
  readonly specifier: string;
}

/** The module that an import refers to. Only modules of the library may import the bindings. */
export function resolveModule(library: Library, { importer, specifier, form }: Import): string {
  if (form === 'script') throw new Error('a script has no modules: call tools through its global functions');
  if (specifier === BINDINGS_MODULE && library.source(importer) === undefined) throw notFound(specifier);
  return specifier;
}

export function moduleSource(library: Library, specifier: string): string {
  const source = library.source(specifier);
  if (source === undefined) throw notFound(specifier);
  return source;
}

function notFound(specifier: string): Error {
  return new Error(`could not load module '${specifier}'`);
}
