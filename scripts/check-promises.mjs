// No promise is left floating. The linter's own rule does not see the types of node_modules (a forgotten `await` in
// front of `rm()` of node:fs passes it); this asks the compiler. `void promise` says that it is meant.
import { join } from 'node:path';
import ts from 'typescript';
import { isMain, ROOT } from './house.mjs';

if (isMain(import.meta.url)) {
  const problems = findFloatingPromises(join(ROOT, 'tsconfig.json'));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

/**
 * Statements of the project's own sources that make a promise and drop it.
 *
 * @param {string} project path of a tsconfig
 * @returns {string[]}
 */
export function findFloatingPromises(project) {
  const { config, error } = ts.readConfigFile(project, ts.sys.readFile);
  if (error) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, '\n'));
  const root = join(project, '..');
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram(fileNames, options);
  const checker = program.getTypeChecker();
  const own = new Set(fileNames);
  const problems = [];

  for (const source of program.getSourceFiles()) {
    if (!own.has(source.fileName)) continue;
    const visit = (node) => {
      if (ts.isExpressionStatement(node) && isFloating(node.expression, checker)) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
        problems.push(`${source.fileName.slice(root.length + 1)}:${line + 1}: a promise nobody waits for`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return problems;
}

function isFloating(expression, checker) {
  if (ts.isParenthesizedExpression(expression)) return isFloating(expression.expression, checker);
  // An assignment keeps the promise; only calls and constructions make one that nothing holds.
  if (!ts.isCallExpression(expression) && !ts.isNewExpression(expression)) return false;
  return isThenable(checker.getTypeAtLocation(expression), checker) && !isHandled(expression, checker);
}

function isThenable(type, checker) {
  return (type.isUnion() ? type.types : [type]).some((part) => {
    const then = part.getProperty('then');
    if (then === undefined) return false;
    return checker.getTypeOfSymbol(then).getCallSignatures().length > 0;
  });
}

/** `.catch(f)` and `.then(f, g)` have taken care of the failure; `.finally(f)` only if what it follows has. */
function isHandled(call, checker) {
  if (!ts.isCallExpression(call) || !ts.isPropertyAccessExpression(call.expression)) return false;
  const method = call.expression.name.text;
  if (method === 'catch') return call.arguments.length >= 1;
  if (method === 'then') return call.arguments.length >= 2;
  return method === 'finally' && !isFloating(call.expression.expression, checker);
}
