import { beginBody } from './body.js';
import { bindCall, bindCallSync, bindValue, deliver, siteOf, throwError, unawaitedCalls } from './calls.js';
import * as errors from './errors.js';
import { bindFetch } from './fetch.js';
import { createConsole } from './globals/console.js';
import { structuredClone } from './globals/structured-clone.js';
import { TextDecoder, TextEncoder } from './globals/text-encoding.js';
import { URL, URLSearchParams } from './globals/url.js';
import { forbidCodeFromStrings, removeExtras } from './harden.js';
import { host } from './host.js';
import { lostInResult, lostInValue } from './lost-values.js';
import { bindCalls, bindNamespaces } from './namespaces.js';
import { collectResult, describeThrown } from './report.js';
import { awaitValue, beginScript } from './script.js';
import { installStack } from './stack.js';
import { jsonOfValue } from './strict-json.js';
import { parse } from './text/parse.js';
import { clearTimeout, fireNext, setTimeout } from './timers.js';

/** Creates the world of a program. Runs once, when the image is built; every execution gets a copy. */
installStack();
installGlobals({ URL, URLSearchParams, TextEncoder, TextDecoder, structuredClone, setTimeout, clearTimeout });
installGlobals({ console: createConsole((level, message) => host.log(level, message)) });
installGlobals({ __codemode_result__: undefined });
removeExtras();
forbidCodeFromStrings();

/** The functions that the worker calls, and that the modules inside the image re-export. The image builder takes them from here. */
(globalThis as Record<string, unknown>)['__entry'] = {
  deliver,
  fireNext,
  collectResult,
  lostInResult,
  lostInValue,
  unawaitedCalls,
  describeThrown,
  beginScript,
  beginBody,
  awaitValue,
  jsonOfValue,
  siteOf,
  bindings: { bindCall, bindCallSync, bindValue, bindCalls, bindNamespaces, bindFetch, throwError },
  errors: {
    CodemodeError: errors.CodemodeError,
    SchemaValidationError: errors.SchemaValidationError,
    ToolNotFoundError: errors.ToolNotFoundError,
    ServerNotFoundError: errors.ServerNotFoundError,
    ToolCallError: errors.ToolCallError,
    AuthenticationError: errors.AuthenticationError,
    SandboxLimitError: errors.SandboxLimitError,
  },
  text: { parse },
};

function installGlobals(values: Record<string, unknown>): void {
  for (const name of Object.keys(values)) {
    Object.defineProperty(globalThis, name, {
      value: values[name],
      writable: true,
      configurable: true,
      enumerable: false,
    });
  }
}
