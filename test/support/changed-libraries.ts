import Module from 'node:module';
import { withChanges } from '../../scripts/library-changes.mjs';

/**
 * Unit tests load packages as npm installed them, users as the build changed them. Without the changes, a database that restarts
 * during a test leaves a rejection that nobody handles.
 */
interface Compiler {
  _compile(this: unknown, text: string, path: string, ...rest: unknown[]): unknown;
  isChanging?: true;
}

const modules = Module.prototype as unknown as Compiler;
if (modules.isChanging !== true) {
  const compile = modules._compile;
  modules.isChanging = true;
  modules._compile = function (text, path, ...rest) {
    return compile.call(this, withChanges(path, text), path, ...rest);
  };
}
