import { useEffect, useState } from 'preact/hooks';
import type { ProfileName } from '../../../../src/domain/profile-name.js';
import type { TypeProblem, TypeVerdict } from '../../../../src/domain/type-check.js';
import { request } from '../../api/request.js';
import { isOwner } from '../../api/session-state.js';
import { counted } from '../../lib/format.js';
import { foreignLabel } from '../../ui/foreign.js';
import { Advice } from '../../ui/parts.js';

/** Debounce: a half-typed word is not reported. */
const TYPING_MS = 450;
const MAX_SHOWN = 50;

export interface TypeCheck {
  readonly problems: readonly TypeProblem[];
  /** Why the types were not checked, and what to do about it. */
  readonly note?: string;
  /** The checker has checked the text of a moment ago. */
  readonly isChecked: boolean;
}

const NOTHING: TypeCheck = { problems: [], isChecked: false };
/** Programs of other profiles have no type check: no request is sent, and nothing is shown. */
const CHECKED: ReadonlySet<ProfileName> = new Set(['codemode']);

/** The host's type check of the program, shortly after the last key. */
export function useTypeCheck(source: string, profile: ProfileName | undefined): TypeCheck {
  const [check, setCheck] = useState(NOTHING);
  useEffect(() => {
    if (profile === undefined || !CHECKED.has(profile) || !isOwner() || source.trim() === '') {
      setCheck(NOTHING);
      return;
    }
    const controller = new AbortController();
    const timer = setTimeout(() => {
      request<TypeVerdict>('checkProgram', { body: { source, profile }, signal: controller.signal }).then(
        (verdict) => setCheck(read(verdict)),
        // Only an aid: the run itself reports what is wrong.
        () => setCheck(NOTHING),
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [source, profile]);
  return check;
}

function read(verdict: TypeVerdict): TypeCheck {
  if (verdict.isChecked) return { problems: verdict.problems, isChecked: true };
  const { reason, fix } = verdict;
  return { ...NOTHING, note: `Types are not checked: ${reason}. ${fix ?? ''}`.trim() };
}

/** The same problems as the marks in the text, for a person who cannot see them or wants to read them all. */
export function ProblemList({
  check: { problems, note, isChecked },
  onGo,
}: {
  check: TypeCheck;
  onGo: (line: number, column: number) => void;
}) {
  return (
    <div class="type-check" role="status" aria-label="Type check">
      {note !== undefined && (
        <p class="panel-foot muted small">
          <Advice text={note} />
        </p>
      )}
      {isChecked && problems.length === 0 && <p class="panel-foot small tone-good">No type errors.</p>}
      {problems.length > 0 && (
        <>
          <p class="sr-only">{counted(problems.length, 'type error')}</p>
          <ul>
            {problems.slice(0, MAX_SHOWN).map(({ severity, message, hint, position: { line, column } }) => (
              <li key={`${line} ${column} ${message}`}>
                <button type="button" class={`problem ${severity}`} onClick={() => onGo(line, column)}>
                  <span class="num problem-place">Line {line}</span>
                  <span>
                    {foreignLabel(message, 400)}
                    {hint !== undefined && <span class="muted"> {foreignLabel(hint, 300)}</span>}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
