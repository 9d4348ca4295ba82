import { codeModeOf } from '../../config/schema/code-mode.js';
import type { Session } from '../../host/session.js';
import { codemodePresentation } from '../../profiles/codemode/presentation.js';
import { LIBRARY_DECLARATIONS } from '../../profiles/codemode/prompt/library-declarations.js';
import { COMMAND_LINE_CALLER } from './caller.js';
import type { Composed } from './composed.js';

/** The session of a person who runs programs of profile codemode from the command line. */
export function openCommandSession({ host, config }: Pick<Composed, 'host' | 'config'>): Session {
  return host.openSession({
    caller: COMMAND_LINE_CALLER,
    profile: 'codemode',
    presentation: codemodePresentation,
    codeMode: codeModeOf(config),
    reservedNames: [],
    checkedLibrary: LIBRARY_DECLARATIONS,
    // stdout has no size limit.
    maxResultBytes: Number.POSITIVE_INFINITY,
  });
}
