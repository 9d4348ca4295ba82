import type { Session } from '../../host/session.js';
import { apiNamespacesOf, methodSignature, type Namespace } from '../../host/tools/api-view.js';

/** Limit for one namespace. The remaining tools are counted. */
const MAX_CHARACTERS = 2_400;

/**
 * Tool signatures as lines of `logs`: of the tools that a failed program named, and of all tools of a namespace that a program only
 * inspected. A session gets each signature once.
 */
export class ToldSignatures {
  readonly #told = new WeakMap<Session, Set<string>>();

  linesFor(session: Session, code: string, hasFailed: boolean): string[] {
    const view = session.tools();
    const named = apiNamespacesOf(view).filter(({ name }) => namesNamespace(code, name));
    if (named.length === 0) return [];
    const told = this.#told.get(session) ?? new Set();
    this.#told.set(session, told);
    return named.flatMap((namespace) => {
      const wanted = wantedOf(namespace, code, hasFailed).filter(({ tool }) => !told.has(tool.target));
      if (wanted.length === 0) return [];
      const signatures: string[] = [];
      let left = MAX_CHARACTERS;
      for (const method of wanted) {
        const signature = methodSignature(method, view);
        left -= signature.length + 2;
        if (left < 0) break;
        signatures.push(signature);
        told.add(method.tool.target);
      }
      const others = wanted.length - signatures.length;
      const more = others === 0 ? '' : `; ${others} more: return Object.keys(mcp.${namespace.name}) again`;
      return [`types: mcp.${namespace.name}: ${signatures.join('; ')}${more}`];
    });
  }
}

function wantedOf({ methods }: Namespace, code: string, hasFailed: boolean): Namespace['methods'] {
  const used = methods.filter(({ name }) => new RegExp(`\\b${escaped(name)}\\b`).test(code));
  return used.length === 0 ? methods : hasFailed ? used : [];
}

function namesNamespace(code: string, name: string): boolean {
  return new RegExp(`\\bmcp\\s*(?:\\??\\.\\s*${escaped(name)}\\b|\\[\\s*['"\`]${escaped(name)}['"\`])`).test(code);
}

/** Names are identifiers. `$` is their only character with a meaning in regular expressions. */
function escaped(name: string): string {
  return name.replaceAll('$', '\\$');
}
