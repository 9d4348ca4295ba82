// @ts-check
// Three rules that need the compiler's syntax trees, two of them its types. No promise is left floating: the linter has that rule too,
// but does not see the types of node_modules, so a forgotten `await` before `rm()` of node:fs passes it. And a switch over
// a union has a case for each member or a default: the linter's rule does not understand `Exclude` and its kin. And
// optional fields are passed with `omitUndefined` (docs/decisions/0114-optional-fields.md). Types themselves are checked by the
// native compiler (check-types.mjs), which has no interface for this.
import { join } from 'node:path';
import ts from 'typescript';
import { isMain, ROOT } from './repository.mjs';

/** Tests build their objects as they like. */
const TESTS = /\/(?:test|bench|scripts)\/|\.test\.tsx?$/;

/** Of Vitest: after these, an assertion is a promise. */
const ASYNCHRONOUS_MATCHERS = new Set(['resolves', 'rejects', 'poll', 'toMatchFileSnapshot']);

const { Void, Undefined, Null, Never, BooleanLike, NumberLike, StringLike, BigIntLike } = ts.TypeFlags;
const PRIMITIVE = Void | Undefined | Null | Never | BooleanLike | NumberLike | StringLike | BigIntLike;

if (isMain(import.meta.url)) {
  const { program, root, fileNames } = openProgram(join(ROOT, 'tsconfig.json'));
  const problems = ruleProblems(program, root, fileNames);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

/**
 * What the project's own sources do against the rules.
 *
 * @param {string} project path of a tsconfig
 * @returns {string[]}
 */
export function findProblems(project) {
  const { program, root, fileNames } = openProgram(project);
  return ruleProblems(program, root, fileNames);
}

function openProgram(project) {
  const { config, error } = ts.readConfigFile(project, ts.sys.readFile);
  if (error) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, '\n'));
  const root = join(project, '..');
  const { fileNames, options, errors } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const [wrong] = errors;
  if (wrong) throw new Error(ts.flattenDiagnosticMessageText(wrong.messageText, '\n'));
  return { program: ts.createProgram(fileNames, options), root, fileNames };
}

function ruleProblems(program, root, fileNames) {
  const checker = program.getTypeChecker();
  const own = new Set(fileNames);
  const problems = [];

  for (const source of program.getSourceFiles()) {
    if (!own.has(source.fileName) || source.isDeclarationFile) continue;
    const visit = (node) => {
      const problem = problemOf(node, checker);
      if (problem !== undefined) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
        problems.push(`${source.fileName.slice(root.length + 1)}:${line + 1}: ${problem}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return problems;
}

function problemOf(node, checker) {
  if (ts.isExpressionStatement(node) && isFloating(node.expression, checker)) {
    return 'a promise nobody waits for; await it, or write `void` if it is intended';
  }
  if (ts.isSwitchStatement(node)) {
    const missing = missingCases(node, checker);
    if (missing.length > 0) return `a switch without a case for ${missing.join(', ')}`;
  }
  if (ts.isConditionalExpression(node) && !TESTS.test(node.getSourceFile().fileName) && isOptionalField(node)) {
    return 'an optional field; write `...omitUndefined({ field })`, or `ifDefined(value, map)` for one that is computed';
  }
  return undefined;
}

/**
 * `x === undefined ? {} : { x }`, and `{ y: f(x) }` too. Not: a field that does not depend on the tested value, one that is
 * awaited, and a function, whose parameters take their types from the place of the literal.
 */
function isOptionalField({ condition, whenTrue, whenFalse }) {
  if (!ts.isBinaryExpression(condition) || condition.right.getText() !== 'undefined') return false;
  if (condition.operatorToken.kind !== ts.SyntaxKind.EqualsEqualsEqualsToken || whenTrue.getText() !== '{}')
    return false;
  if (!ts.isObjectLiteralExpression(whenFalse)) return false;
  const tested = condition.left.getText().replaceAll('?.', '.');
  const uses = (node) => node.getText() === tested || ts.forEachChild(node, uses) === true;
  const awaits = (node) => ts.isAwaitExpression(node) || ts.forEachChild(node, awaits) === true;
  return whenFalse.properties.every(
    (field) =>
      !ts.isSpreadAssignment(field) &&
      !(ts.isPropertyAssignment(field) && ts.isArrowFunction(field.initializer)) &&
      uses(ts.isPropertyAssignment(field) ? field.initializer : field) &&
      !awaits(field),
  );
}

function isFloating(expression, checker) {
  if (ts.isParenthesizedExpression(expression)) return isFloating(expression.expression, checker);
  // An assignment keeps the promise; only calls and constructions make one that nothing holds.
  if (!ts.isCallExpression(expression) && !ts.isNewExpression(expression)) return false;
  if (ts.isCallExpression(expression) && (isPlainAssertion(expression) || isOfPlainValue(expression, checker)))
    return false;
  return isThenable(checker.getTypeAtLocation(expression), checker) && !isHandled(expression, checker);
}

/** `expect(value).toBe(1)` gives nothing, and to find that out by types would take that of the value. */
function isPlainAssertion(call) {
  let at = call.expression;
  while (ts.isPropertyAccessExpression(at) || ts.isCallExpression(at)) {
    if (ts.isPropertyAccessExpression(at) && ASYNCHRONOUS_MATCHERS.has(at.name.text)) return false;
    at = at.expression;
  }
  return ts.isIdentifier(at) && at.text === 'expect';
}

/** Whether every signature of what is called returns a primitive: then the arguments, whole tests among them, need no types. */
function isOfPlainValue(call, checker) {
  const signatures = checker.getTypeAtLocation(call.expression).getCallSignatures();
  return (
    signatures.length > 0 &&
    signatures.every((each) => (checker.getReturnTypeOfSignature(each).flags & PRIMITIVE) !== 0)
  );
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

/** Only for a union of literals: a switch over a string cannot be complete. */
function missingCases(node, checker) {
  const { clauses } = node.caseBlock;
  if (clauses.some((clause) => ts.isDefaultClause(clause))) return [];
  const type = checker.getTypeAtLocation(node.expression);
  const members = type.isUnion() ? type.types : [type];
  if (!members.every((member) => (member.flags & ts.TypeFlags.Unit) !== 0)) return [];
  const cases = clauses.map((clause) => checker.getTypeAtLocation(clause.expression));
  return members
    .filter((member) => !cases.some((covered) => checker.isTypeAssignableTo(member, covered)))
    .map((member) => checker.typeToString(member));
}
