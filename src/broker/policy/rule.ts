import type { JsonObject } from '../../domain/json.js';
import { HINTS, type Hint, type PolicyRule, type ServerTraits } from '../../domain/policy.js';
import type { Tool } from '../../domain/tool.js';
import { matchesGlob } from '../../lib/text/glob.js';
import { type CompiledCondition, compileCondition, PolicyProblem, type ReadPattern } from './conditions.js';
import {
  fitsAnySpelling,
  fitsExactly,
  readToolPattern,
  TOOL_PATTERN_EXAMPLE,
  type ToolPattern,
} from './tool-pattern.js';

/**
 * One compiled rule. One principle applies everywhere: data from a server or a program can make a restricting rule match, but
 * never an allowing one.
 */
export interface CompiledRule {
  /** Counted from 1, in the order of the file. */
  readonly number: number;
  readonly rule: PolicyRule;
  readonly hasConditions: boolean;
  fitsTool(tool: Tool, serverPath: string, traits: ServerTraits): boolean;
  fitsCaller(caller: string, profile: string): boolean;
  /** `schema`: the schema of the tool's input. */
  fitsArguments(input: JsonObject, schema: JsonObject | undefined): boolean;
}

/** Throws `PolicyProblem` with a path relative to the rule. */
export function compileRule(rule: PolicyRule, number: number, readPattern: ReadPattern): CompiledRule {
  const isRelaxing = rule.decision === 'allow';
  const patterns = rule.tools?.map((text, index, { length }) =>
    compilePattern(text, length === 1 ? ['tools'] : ['tools', index]),
  );
  const conditions = Object.entries(rule.arguments ?? {}).map(([place, condition]): CompiledCondition => {
    try {
      return compileCondition(place, condition, readPattern);
    } catch (error) {
      if (error instanceof PolicyProblem) throw new PolicyProblem(['arguments', place, ...error.path], error.message);
      throw error;
    }
  });
  return {
    number,
    rule,
    hasConditions: conditions.length > 0,
    fitsTool: (tool, serverPath, traits) =>
      (patterns === undefined ||
        patterns.some((pattern) =>
          isRelaxing ? fitsExactly(pattern, tool) : fitsAnySpelling(pattern, tool, serverPath),
        )) &&
      HINTS.every((hint) => fitsHint(hint, rule.annotations?.[hint], tool, traits.isTrusted, isRelaxing)),
    fitsCaller: (caller, profile) => isNamed(rule.caller, caller) && isNamed(rule.profile, profile),
    fitsArguments: (input, schema) => conditions.every((condition) => condition.holds(input, isRelaxing, schema)),
  };
}

function compilePattern(text: string, path: readonly (string | number)[]): ToolPattern {
  const pattern = readToolPattern(text);
  if (pattern === undefined) throw new PolicyProblem(path, `expected ${TOOL_PATTERN_EXAMPLE}`);
  return pattern;
}

function isNamed(patterns: readonly string[] | undefined, name: string): boolean {
  return patterns === undefined || patterns.some((pattern) => matchesGlob(pattern, name));
}

/** The annotations that a server would use to avoid being asked about. */
const COMFORTING: Readonly<Record<Hint, boolean>> = {
  readOnlyHint: true,
  idempotentHint: true,
  destructiveHint: false,
  openWorldHint: false,
};

/** An annotation that relaxes is trusted only from trusted servers; one that restricts, from every server. */
function fitsHint(
  hint: Hint,
  wanted: boolean | undefined,
  tool: Tool,
  isTrusted: boolean,
  isRelaxing: boolean,
): boolean {
  if (wanted === undefined) return true;
  const claim = tool.annotations?.[hint];
  if (isRelaxing) return isTrusted && claim === wanted;
  const believed = claim === COMFORTING[hint] && !isTrusted ? undefined : claim;
  // Without an annotation, a tool is neither read-only nor idempotent. The protocol defines it so.
  const isSilent = believed === undefined && (hint === 'readOnlyHint' || hint === 'idempotentHint');
  return isSilent ? wanted === false : believed === wanted;
}
