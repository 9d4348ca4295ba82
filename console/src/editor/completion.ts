import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { PlaygroundDeclarations, ToolField } from '../../../src/domain/console/playground.js';
import { foreignLabel } from '../ui/foreign.js';

export type DeclaredTool = PlaygroundDeclarations['tools'][number];

const MAX_COMPLETIONS = 3_000;

/** Completes servers inside an import, arguments inside a tool call, fields after a tool's result, and tools elsewhere. */
export function complete(
  context: CompletionContext,
  declarations: PlaygroundDeclarations | undefined,
): CompletionResult | null {
  if (declarations === undefined) return null;
  const inString = context.matchBefore(/['"]@[\w./@-]*/);
  if (inString !== null) {
    const specifiers = [...new Set(declarations.servers.map(({ specifier }) => specifier))];
    return { from: inString.from + 1, options: specifiers.map((label) => ({ label, type: 'namespace' })) };
  }
  const { state, pos } = context;
  const text = state.doc.toString();
  const member = context.matchBefore(/[\w$]+\.[\w$]*/);
  if (member !== null) {
    const [name = '', begun = ''] = member.text.split('.');
    const fields = toolThatGave(text, name, declarations)?.output ?? [];
    return fields.length === 0 ? null : { from: pos - begun.length, options: fields.map(fieldCompletion) };
  }
  const word = context.matchBefore(/[\w$]+/);
  const called = calledAt(state, word?.from ?? pos, declarations);
  if (called !== undefined) {
    if (word === null && !context.explicit && !/[{,]\s*$/.test(state.sliceDoc(Math.max(0, pos - 20), pos))) return null;
    return {
      from: word?.from ?? pos,
      validFor: /^[\w$]*$/,
      options: called.input.map((field) => ({ ...fieldCompletion(field), apply: `${field.name}: ` })),
    };
  }
  if (word === null && !context.explicit) return null;
  return {
    from: word?.from ?? pos,
    validFor: /^[\w$]*$/,
    options: declarations.tools.slice(0, MAX_COMPLETIONS).map((tool) => toolCompletion(tool, text)),
  };
}

/** The tool whose arguments object directly contains the position, if a name may stand there. */
export function calledAt(
  state: EditorState,
  position: number,
  declarations: PlaygroundDeclarations | undefined,
): DeclaredTool | undefined {
  let node = syntaxTree(state).resolveInner(position, -1);
  while (node.name !== 'ObjectExpression') {
    // The value of a property is not a position for a name.
    if (node.name === 'Property' && state.sliceDoc(node.from, position).includes(':')) return undefined;
    if (node.parent === null || node.name === 'Script' || node.name.endsWith('Function')) return undefined;
    node = node.parent;
  }
  const call = node.parent?.name === 'ArgList' ? node.parent.parent : null;
  const callee = call?.firstChild;
  if (call?.name !== 'CallExpression' || callee == null) return undefined;
  const name = state.sliceDoc(callee.from, callee.to).split('.').at(-1);
  return declarations?.tools.find(({ exportName }) => exportName === name);
}

/** Finds `const name = await tool(` by text, the nearest one above. */
function toolThatGave(text: string, name: string, declarations: PlaygroundDeclarations): DeclaredTool | undefined {
  const given = [...text.matchAll(/(?:const|let|var)\s+([\w$]+)\s*=\s*await\s+(?:[\w$]+\.)*([\w$]+)\s*\(/g)];
  const tool = given.findLast(([, variable]) => variable === name)?.[2];
  return declarations.tools.find(({ exportName }) => exportName === tool);
}

function fieldCompletion({ name, type, isRequired, description }: ToolField): Completion {
  return {
    label: name,
    detail: foreignLabel(`${isRequired ? '' : '?'}: ${type}`, 120),
    type: 'property',
    boost: isRequired ? 1 : 0,
    ...(description === '' ? {} : { info: () => describe(`${name}${isRequired ? '' : '?'}: ${type}`, description) }),
  };
}

/** A tool that is not imported yet is imported when it is chosen. */
function toolCompletion(tool: DeclaredTool, text: string): Completion {
  return {
    label: tool.exportName,
    detail: tool.specifier,
    type: 'function',
    info: () => describe(tool.signature, tool.description),
    apply: (view, _completion, from, to) => {
      const line = `import { ${tool.exportName} } from '${tool.specifier}';\n`;
      const isModule = tool.specifier.startsWith('@');
      const isImported = new RegExp(`import[^;]*\\b${tool.exportName}\\b`).test(text);
      const isInImport = /^\s*import\b/.test(view.state.doc.lineAt(from).text);
      const addition = isModule && !isImported && !isInImport ? [{ from: 0, insert: line }] : [];
      view.dispatch({ changes: [...addition, { from, to, insert: tool.exportName }] });
    },
  };
}

/** Text for what the pointer is over: a tool with its types, or one of its arguments. */
export function hoverText(
  state: EditorState,
  from: number,
  to: number,
  declarations: PlaygroundDeclarations | undefined,
): HTMLElement | undefined {
  const name = state.sliceDoc(from, to);
  const field = calledAt(state, from, declarations)?.input.find((each) => each.name === name);
  if (field !== undefined) return describe(`${name}${field.isRequired ? '' : '?'}: ${field.type}`, field.description);
  const tool = declarations?.tools.find(({ exportName }) => exportName === name);
  return tool === undefined ? undefined : describe(tool.signature, tool.description);
}

/** Text nodes only: both texts come from the server. */
function describe(type: string, words: string): HTMLElement {
  const box = document.createElement('div');
  box.className = 'cm-tool';
  const code = document.createElement('code');
  code.textContent = foreignLabel(type, 600);
  const paragraph = document.createElement('p');
  paragraph.textContent = foreignLabel(words, 400);
  box.append(code, paragraph);
  return box;
}
