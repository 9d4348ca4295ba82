import { depthOf, isSamePlace, type Problem } from './problem.js';
import type { AllowedValues, Rule } from './rule.js';

/** The problems in reading order: the most informative first. Problems inside alternatives are lifted out. */
export function byRelevance(problems: readonly Problem[]): readonly Problem[] {
  return problems
    .map((problem) => withoutForms(problem, 0))
    .map((problem, index) => ({ problem, index, depth: depthOf(problem.place) }))
    .sort((a, b) => b.depth - a.depth || rank(a.problem) - rank(b.problem) || a.index - b.index)
    .map(({ problem }) => problem);
}

/** Alternatives inside alternatives; deeper ones are explained as a whole. */
const MAX_NESTED_FORMS = 8;
/** A form whose `const` or `enum` differs is another form; everything else is a mistake in this one. */
const COST_OF_OTHER_FORM = 100;

/**
 * If none of several forms fits: the problems of the form that was meant. That is the one of the right type, with the right
 * discriminator and the fewest mistakes. Returns the problem itself if no form can be identified as meant.
 */
function withoutForms(problem: Problem, nesting: number): Problem {
  const { fault } = problem;
  if (fault.kind !== 'forms' || fault.matches > 0 || nesting > MAX_NESTED_FORMS) return problem;
  const meant = fault.failures.filter((failure) => !failure.some((inner) => isOtherKind(inner, problem)));
  if (meant.length === 0) return problem;
  const [first, ...others] = [...meant].sort((a, b) => costOf(a) - costOf(b));
  if (first === undefined) return problem;
  const inner = byRelevance(first).map((item) => withoutForms(item, nesting + 1))[0];
  if (inner === undefined) return problem;
  return others.length === 0 ? inner : (differentValues(problem, meant) ?? inner);
}

/** Whether the value is of another form entirely, rather than wrong in this one. */
function isOtherKind(inner: Problem, outer: Problem): boolean {
  if (!isSamePlace(inner.place, outer.place)) return false;
  const { kind } = inner.fault;
  return kind === 'type' || kind === 'never' || kind === 'values' || kind === 'forms' || kind === 'not';
}

function costOf(failure: readonly Problem[]): number {
  return failure.reduce((sum, { fault }) => sum + (fault.kind === 'values' ? COST_OF_OTHER_FORM : 1), 0);
}

/** `kind: "triangle"` if the forms expect `"circle"` and `"square"`: all values that any of them accepts. */
function differentValues(problem: Problem, meant: readonly (readonly Problem[])[]): Problem | undefined {
  const [candidates = [], ...others] = meant;
  for (const candidate of candidates) {
    if (candidate.fault.kind !== 'values') continue;
    const values: AllowedValues[] = [...candidate.fault.values];
    const isEverywhere = others.every((failure) => {
      const same = failure.find((other) => other.fault.kind === 'values' && isSamePlace(other.place, candidate.place));
      if (same?.fault.kind === 'values') values.push(...same.fault.values);
      return same !== undefined;
    });
    if (isEverywhere)
      return { ...candidate, rule: mergedRule(problem.rule, values), fault: { kind: 'values', values } };
  }
  return undefined;
}

function mergedRule(rule: Rule, values: readonly AllowedValues[]): Rule {
  return rule.title === undefined ? { values } : { title: rule.title, values };
}

/** Missing properties are the most informative; limits and patterns the least. */
function rank({ fault }: Problem): number {
  const order: readonly string[] = ['missing', 'unknown', 'name', 'type', 'values', 'forms'];
  const position = order.indexOf(fault.kind);
  return position < 0 ? order.length : position;
}
