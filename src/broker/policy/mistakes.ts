import { omitUndefined } from '../../lib/omit-undefined.js';
import { PolicyProblem } from './conditions.js';
import { NO_PATTERNS, Policy, type PolicyOptions } from './policy.js';
import { compileRule } from './rule.js';
import { readToolPattern, TOOL_PATTERN_EXAMPLE } from './tool-pattern.js';

/** One mistake in a policy, and its path within the policy's settings. */
export interface PolicyMistake {
  readonly path: readonly (string | number)[];
  readonly problem: string;
}

/**
 * Mistakes that the schema can't find: invalid expressions, and examples with another outcome than expected. Examples for
 * servers whose own settings can't be read (`isUnreadable`) are skipped, because their outcome is unknown.
 */
export function policyMistakes(
  options: PolicyOptions,
  isUnreadable: (server: string) => boolean = () => false,
): PolicyMistake[] {
  const { rules, prices } = options.settings;
  const mistakes: PolicyMistake[] = Object.keys(prices).flatMap((pattern) =>
    readToolPattern(pattern) === undefined
      ? [{ path: ['prices', pattern], problem: `expected ${TOOL_PATTERN_EXAMPLE}` }]
      : [],
  );
  for (const [index, rule] of rules.entries()) {
    try {
      compileRule(rule, index + 1, options.readPattern ?? NO_PATTERNS);
    } catch (error) {
      if (!(error instanceof PolicyProblem)) throw error;
      mistakes.push({ path: ['rules', index, ...error.path], problem: error.message });
    }
  }
  // With an invalid rule, every example would be denied.
  return mistakes.length > 0 ? mistakes : exampleMistakes(options, isUnreadable);
}

function exampleMistakes(options: PolicyOptions, isUnreadable: (server: string) => boolean): PolicyMistake[] {
  const policy = new Policy(options);
  return options.settings.rules.flatMap(({ examples }, index) =>
    examples.flatMap((example, number): PolicyMistake[] => {
      const path = ['rules', index, 'examples', number];
      const pattern = readToolPattern(example.tool);
      if (pattern === undefined || example.tool.includes('*'))
        return [{ path: [...path, 'tool'], problem: 'expected the name of one tool, such as files/write_file' }];
      if (isUnreadable(pattern.server)) return [];
      const { decision, reason, rule } = policy.decide({
        tool: {
          serverId: pattern.server,
          name: pattern.tool,
          ...omitUndefined({ annotations: example.annotations }),
        },
        serverPath: pattern.server,
        caller: example.caller ?? '',
        profile: example.profile ?? '',
        arguments: example.arguments ?? {},
      });
      if (decision === example.decision) return [];
      const problem = `expected ${example.decision} for this example, but it comes out as ${decision}: ${rule.text}, ${reason}`;
      return [{ path: [...path, 'decision'], problem }];
    }),
  );
}
