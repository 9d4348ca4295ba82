import { nearest } from '../../lib/nearest.js';
import type { Suggestions } from './failures.js';
import { ERRORS_MODULE } from './image.js';
import type { Library } from './library.js';

/** What can be imported, for a message about something that cannot. */
export function suggestionsFrom(library: Library): Suggestions {
  return {
    suggestModules(specifier) {
      const known = [...library.specifiers, ERRORS_MODULE];
      const close = nearest(specifier, known, 3);
      return close.length > 0
        ? `Did you mean ${close.map((each) => `'${each}'`).join(' or ')}?`
        : `Modules that can be imported: ${known.slice(0, 20).join(', ')}${known.length > 20 ? ', ...' : ''}.`;
    },
    suggestExports(specifier, name) {
      const known = library.exportNames(specifier);
      const close = nearest(name, known, 3);
      const guess =
        close.length > 0
          ? `Did you mean ${close.map((each) => `\`${each}\``).join(' or ')}?`
          : `It exports: ${known.slice(0, 20).join(', ')}.`;
      return `${guess} If it is a type, write \`import type\`.`;
    },
  };
}
