import { readFileSync } from 'node:fs';
import { isReference, referencePath } from './reference.js';
import { fixture } from './upstreams.js';

export interface RunnerExample {
  readonly name: string;
  readonly language: string;
  readonly code: string;
}

/** Where the public document "Code MCP" has an example of this kind: its language, and words that only it has. */
const IN_THE_DOCUMENT: readonly (readonly [name: string, language: string, words: string])[] = [
  ['program', 'typescript', 'summarize(doc'],
  ['program-with-log', 'js', 'Fetching document'],
  ['own-loop', 'python', 'servers.sheets'],
  ['wrapper-document', 'python', 'class GetDocumentInput'],
  ['wrapper-weather', 'python', 'class GetWeatherInput'],
  ['wrapper-weather', 'js', 'getWeather(arguments)'],
  ['catalog', 'ts', 'catalog.searchTools'],
  ['envelope', 'json', '"run_id"'],
  ['success', 'json', '"data": {}'],
  ['failure', 'json', '"ok": false'],
  ['reference-runner', 'python', '_wrap_async'],
  ['normalized', 'ts', 'type ToolCallResult'],
  ['self-correction', 'python', 'handoff_required'],
  ['prompt-rules', 'markdown', 'You solve tasks'],
];

/** The repository's own examples, or in the project `reference` every piece of code in the document itself. */
export function runnerExamples(): readonly RunnerExample[] {
  const file = isReference() ? referencePath('seeds', '001_9efb2135c352e212.txt') : fixture('runner-examples.md');
  const fences = readFileSync(file, 'utf8').matchAll(/^```(\w+)(?: ([\w-]+))?\n(.*?)^```/gms);
  return [...fences]
    .map(([, language = '', name = '', code = '']) => ({
      name: name || nameInTheDocument(language, code),
      language,
      code,
    }))
    .filter(({ language }) => !['text', 'yaml'].includes(language));
}

/** Empty for code that no test asks for: the test that looks for such finds it. Drawings and a Docker file are no code. */
function nameInTheDocument(language: string, code: string): string {
  return IN_THE_DOCUMENT.find(([, itsLanguage, words]) => itsLanguage === language && code.includes(words))?.[0] ?? '';
}
