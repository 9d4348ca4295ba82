import type { CatalogTool } from '../../catalog/snapshot.js';
import { nearest } from '../../lib/text/nearest.js';
import type { ToolView } from '../tools/tool-view.js';
import { goBriefing, goDeclarationsOf, goToolsOf } from './go-package.js';

const MAX_NAMES = 5;
const MAX_DECLARATION_CHARACTERS = 12_000;

/** Advice for code that does not compile: the intended names, and types that the agent has not seen. */
export function goAdvice(source: string, complaint: string, view: ToolView): string {
  const { forCode } = view;
  const { declarations, toolByFunction } = goToolsOf(forCode);
  const names = declarations.flatMap((each) => each.names);
  const unknown = new Set(
    [...complaint.matchAll(/undefined: ([\p{L}_][\p{L}\p{Nd}_]*)/gu)].map(([, name = '']) => name),
  );
  const meant = [...unknown].slice(0, MAX_NAMES).flatMap((name) => {
    const direct = view.direct.find(({ tool }) => isFunctionOf(tool, name));
    if (direct !== undefined)
      return [`${name}: not for code, a tool of its own; call the tool ${JSON.stringify(direct.name)} directly`];
    const plain = withoutInput(name, names);
    if (plain !== undefined) return [`${plain} takes no input: ${plain}(ctx)`];
    const close = nearest(name, names, 3);
    return close.length === 0 ? [] : [`${name}: did you mean ${close.join(' or ')}?`];
  });
  const isIndex = goBriefing(view).level === 'index';
  const used = isIndex ? [...toolByFunction.keys()].filter((name) => source.includes(name)) : [];
  const types = used.length === 0 ? '' : goDeclarationsOf(used, forCode);
  // Half a declaration is useless.
  const shown = types === '' || types.length > MAX_DECLARATION_CHARACTERS ? [] : [`\n${types.trimEnd()}`];
  const starting = forCode.servers.filter(({ isStarting }) => isStarting === true).map(({ id }) => id);
  const late =
    unknown.size === 0 || starting.length === 0
      ? []
      : [`still starting, so their functions are not known yet: ${starting.slice(0, MAX_NAMES).join(', ')}`];
  return [...meant, ...fieldsOfText(complaint), ...returnedValue(complaint), ...late, ...shown].join('\n');
}

/** Advice for an error of a program that tried to access the machine. */
export function outsideAdvice(message: string): string {
  const find = 'searchTools(ctx, "words") finds a tool that does it.';
  if (/\bdial (?:tcp|udp)\b|\bsocket: operation not permitted/.test(message))
    return `There is no network here. ${find}`;
  return /: no such file or directory$/m.test(message) ? `There are no files here. ${find}` : '';
}

/** Tools without a declared output return text. Code that expects their data uses the text as a struct. */
function fieldsOfText(complaint: string): string[] {
  const [, variable] =
    /([\p{L}_][\p{L}\p{Nd}_]*)\.\S+ undefined \(type string has no field or method/u.exec(complaint) ?? [];
  if (variable === undefined) return [];
  return [`${variable} is the tool's text; its data: data, err := convert[map[string]any](${variable})`];
}

function returnedValue(complaint: string): string[] {
  return /as error value in return statement|too many return values/.test(complaint)
    ? ['The answer is what the code prints: fmt.Println(value). `return` takes an error or nil.']
    : [];
}

/** `GetUserInput` of a `getUser` that has no input. Every other function's input has this type. */
function withoutInput(name: string, names: readonly string[]): string | undefined {
  const [, tool] = /^(.+)Input$/.exec(name) ?? [];
  return tool === undefined ? undefined : names.find((each) => each === lowerFirst(tool));
}

function lowerFirst(name: string): string {
  return `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
}

/** A function has the tool's name, prefixed with the server's name if two tools share it. */
function isFunctionOf({ tool, server }: CatalogTool, name: string): boolean {
  const folded = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{Nd}]/gu, '');
  return [tool.name, `${server.path}${tool.name}`, `${server.id}${tool.name}`].some(
    (each) => folded(each) === folded(name),
  );
}
