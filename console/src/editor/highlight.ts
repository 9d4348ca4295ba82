import { goLanguage } from '@codemirror/lang-go';
import { javascriptLanguage, tsxLanguage, typescriptLanguage } from '@codemirror/lang-javascript';
import { pythonLanguage } from '@codemirror/lang-python';
import { highlightCode, tagHighlighter, tags } from '@lezer/highlight';

export interface Span {
  readonly text: string;
  /** CSS classes; empty for plain text. */
  readonly style: string;
}

const STYLE = tagHighlighter([
  { tag: [tags.keyword, tags.modifier, tags.self, tags.bool, tags.null, tags.atom], class: 'tok-keyword' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], class: 'tok-string' },
  { tag: tags.number, class: 'tok-number' },
  { tag: tags.comment, class: 'tok-comment' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], class: 'tok-name' },
  { tag: [tags.typeName, tags.className, tags.namespace], class: 'tok-type' },
]);

/** The parser for a program's language. TSX for an unknown language, because it accepts the most. */
export function languageOf(name: string) {
  if (name === 'python') return pythonLanguage;
  if (name === 'go') return goLanguage;
  if (name === 'typescript') return typescriptLanguage;
  return name === 'javascript' || name === 'node' ? javascriptLanguage : tsxLanguage;
}

/** The lines of a program, each as spans of one colour. */
export function highlight(source: string, language: string): readonly (readonly Span[])[] {
  const lines: Span[][] = [[]];
  highlightCode(
    source,
    languageOf(language).parser.parse(source),
    STYLE,
    (text, style) => void lines.at(-1)?.push({ text, style }),
    () => void lines.push([]),
  );
  return lines;
}
