// @ts-check
// The walls of src and console: who may import whom (.dependency-cruiser.cjs), and that the environment is read in one place.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { cruise } from 'dependency-cruiser';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import ts from 'typescript';
import { isMain, listFiles, ROOT } from './repository.mjs';

/** The only part of src that reads `process.env`. Everything else receives its options. */
const ENVIRONMENT_HOME = 'src/config/';

if (isMain(import.meta.url)) {
  const sources = [...listFiles('src', ['.ts']), ...listFiles('console/src', ['.ts', '.tsx'])];
  const problems = [...(await findImportProblems(sources)), ...findEnvironmentReads(sources, readSource)];
  for (const problem of problems) console.error(problem);
  console.log(`${sources.length} files, ${problems.length} problems`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

/**
 * Imports that the table forbids. A source that the tool did not read is a problem too: with a compiler it cannot
 * load, the tool reads nothing and reports success.
 */
async function findImportProblems(sources) {
  const { forbidden, options } = createRequire(import.meta.url)(join(ROOT, '.dependency-cruiser.cjs'));
  process.chdir(ROOT);
  const { output } = await cruise(
    ['src', 'console/src'],
    { ...options, baseDir: ROOT, validate: true, ruleSet: { forbidden }, outputType: 'json' },
    undefined,
    { tsConfig: extractTsConfig(join(ROOT, options.tsConfig.fileName)) },
  );
  const { modules, summary } = JSON.parse(String(output));
  const read = new Set(modules.map((module) => module.source));
  return [
    ...sources.filter((file) => !read.has(file)).map((file) => `${file}: not read by dependency-cruiser`),
    ...summary.violations.map((violation) => `${violation.from}: imports ${violation.to} (${violation.rule.name})`),
  ];
}

/**
 * Places outside `src/config` that read the environment: `process.env`, `process['env']`, `const { env } = process`,
 * `import { env } from 'node:process'`. Tests may.
 *
 * @param {readonly string[]} sources
 * @param {(file: string) => string} read
 * @returns {string[]}
 */
export function findEnvironmentReads(sources, read) {
  const problems = [];
  for (const file of sources) {
    if (file.startsWith(ENVIRONMENT_HOME) || /\.test(-support)?\.ts$/.test(file)) continue;
    const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
    const visit = (node) => {
      if (readsEnvironment(node)) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
        problems.push(`${file}:${line + 1}: reads the environment; only ${ENVIRONMENT_HOME} may`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return problems;
}

function readsEnvironment(node) {
  if (ts.isPropertyAccessExpression(node)) return isProcess(node.expression) && node.name.text === 'env';
  if (ts.isElementAccessExpression(node)) {
    return (
      isProcess(node.expression) &&
      ts.isStringLiteralLike(node.argumentExpression) &&
      node.argumentExpression.text === 'env'
    );
  }
  if (ts.isVariableDeclaration(node) && node.initializer && isProcess(node.initializer)) {
    return (
      ts.isObjectBindingPattern(node.name) && node.name.elements.some((element) => importedName(element) === 'env')
    );
  }
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    if (!/^(node:)?process$/.test(node.moduleSpecifier.text)) return false;
    const names = node.importClause?.namedBindings;
    return names !== undefined && ts.isNamedImports(names) && names.elements.some((e) => importedName(e) === 'env');
  }
  return false;
}

/** `process`, also as a property: `globalThis.process`. */
function isProcess(node) {
  return (
    (ts.isIdentifier(node) && node.text === 'process') ||
    (ts.isPropertyAccessExpression(node) && node.name.text === 'process')
  );
}

function importedName(element) {
  return (element.propertyName ?? element.name).getText();
}

function readSource(file) {
  return readFileSync(join(ROOT, file), 'utf8');
}
