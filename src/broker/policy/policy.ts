import type { JsonObject } from '../../domain/json.js';
import {
  type Decision,
  LABELS,
  type Label,
  type PolicySettings,
  type Preset,
  type ServerTraits,
} from '../../domain/policy.js';
import type { Tool } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { ReadPattern } from './conditions.js';
import { judgeDescription } from './judge-description.js';
import { judgeName } from './judge-name.js';
import { type CompiledRule, compileRule } from './rule.js';
import { fitsExactly, isListed } from './tool-pattern.js';

export interface PolicyOptions {
  readonly settings: PolicySettings;
  /** The user's settings for each server. A server without settings is not trusted and has no labels. */
  readonly servers: ReadonlyMap<string, ServerTraits>;
  /** Required if a rule has a text pattern. */
  readonly readPattern?: ReadPattern;
  /** Allow-lists. No tool outside them may be called, regardless of the rules. */
  readonly only?: AllowLists;
  /** The place of a rule, counted from 0: `codemode.config.yaml:7:5`. */
  readonly placeOf?: (ruleIndex: number) => string | undefined;
}

/** `security.capabilities.mcp` of the configuration. */
export interface AllowLists {
  readonly servers?: readonly string[];
  /** `server/tool` or the tool's name alone, with `*` for any characters. */
  readonly tools?: readonly string[];
}

/** What the policy judges a call by. */
export interface PolicyCall {
  readonly tool: Tool;
  /** The server's name in programs. */
  readonly serverPath: string;
  readonly caller: string;
  readonly profile: string;
  /** As they will be sent. */
  readonly arguments: JsonObject;
}

/** The rule, preset or guard that decided. */
export interface RuleReference {
  readonly kind: 'rule' | 'preset' | 'list' | 'guard' | 'budget' | 'broken';
  /** `rule 2 (codemode.config.yaml:7:5)`, `preset default: destructive tools ask`. */
  readonly text: string;
  readonly number?: number;
  readonly place?: string;
  readonly preset?: Preset;
}

export interface PolicyVerdict {
  readonly decision: Decision;
  /** A sentence for the approval card, the error and the terminal. */
  readonly reason: string;
  readonly rule: RuleReference;
  /** The rule exempts the call from the flow guard. */
  readonly isFlowAllowed?: boolean;
}

/** Decides which calls are allowed, asked about or denied: first by the user's rules in order, then by the preset. */
export class Policy {
  readonly #options: PolicyOptions;
  /** `undefined` if a rule is invalid: then nothing is allowed. */
  readonly #rules: readonly CompiledRule[] | undefined;
  readonly #facts = new WeakMap<Tool, Facts>();

  constructor(options: PolicyOptions) {
    this.#options = options;
    this.#rules = compileAll(options);
  }

  /** Never throws: a policy that can't be evaluated denies. */
  decide(call: PolicyCall): PolicyVerdict {
    try {
      const { listed, rules, preset } = this.#factsOf(call.tool, call.serverPath);
      if (listed !== undefined) return listed;
      for (const rule of rules) {
        if (!rule.fitsCaller(call.caller, call.profile)) continue;
        if (rule.fitsArguments(call.arguments, call.tool.inputSchema)) return this.#verdictOf(rule);
      }
      return preset;
    } catch {
      return BROKEN;
    }
  }

  /** Whether this caller can't call the tool with any arguments. Then the tool is hidden from it. */
  hides(tool: Tool, serverPath: string, caller: string, profile: string): boolean {
    try {
      const { listed, rules } = this.#factsOf(tool, serverPath);
      if (listed !== undefined) return true;
      for (const { rule, hasConditions, fitsCaller } of rules) {
        if (!fitsCaller(caller, profile)) continue;
        if (!hasConditions) return rule.decision === 'deny';
        if (rule.decision !== 'deny') return false;
      }
      return false;
    } catch {
      return true;
    }
  }

  /** Whether calls of this caller wait for a person: all of them, or those with certain arguments. */
  asks(tool: Tool, serverPath: string, caller: string, profile: string): boolean {
    try {
      const { listed, rules, preset } = this.#factsOf(tool, serverPath);
      if (listed !== undefined) return false;
      for (const { rule, hasConditions, fitsCaller } of rules) {
        if (!fitsCaller(caller, profile)) continue;
        if (rule.decision === 'ask') return true;
        if (!hasConditions) return false;
      }
      return preset.decision === 'ask';
    } catch {
      // In this case every call is denied.
      return false;
    }
  }

  /** Rules that decide about this tool for some arguments, before the first rule without conditions. */
  conditionalRules({ tool, serverPath, caller, profile }: Omit<PolicyCall, 'arguments'>): readonly RuleReference[] {
    const fitting = this.#factsOf(tool, serverPath).rules.filter((rule) => rule.fitsCaller(caller, profile));
    const first = fitting.findIndex(({ hasConditions }) => !hasConditions);
    return fitting.slice(0, first < 0 ? undefined : first).map(({ number }) => this.#referenceOf(number));
  }

  /**
   * Whether a tool is destructive, for the flow guard: the reason, or `undefined`. A trusted server may still act on untrusted
   * text that it was given, so its tool names count here.
   */
  destructive(tool: Tool, serverPath: string): string | undefined {
    return this.#factsOf(tool, serverPath).destructive;
  }

  traitsOf(serverId: string): ServerTraits {
    return this.#options.servers.get(serverId) ?? STRANGER;
  }

  /** All labels of all servers. */
  labelsInUse(): readonly Label[] {
    return LABELS.filter((label) => [...this.#options.servers.values()].some(({ labels }) => labels.includes(label)));
  }

  /** Facts that do not depend on the call are computed once per tool. */
  #factsOf(tool: Tool, serverPath: string): Facts {
    const known = this.#facts.get(tool);
    if (known !== undefined && known.serverPath === serverPath) return known;
    if (this.#rules === undefined) throw new Error('the policy cannot be read');
    const traits = this.traitsOf(tool.serverId);
    const listed = listVerdict(tool, this.#options.only);
    const destructive = destructiveReason(tool, traits.isTrusted);
    const facts: Facts = {
      serverPath,
      ...omitUndefined({ listed }),
      rules: this.#rules.filter((rule) => rule.fitsTool(tool, serverPath, traits)),
      destructive,
      preset: presetVerdict(this.#options.settings.preset, tool, traits),
    };
    this.#facts.set(tool, facts);
    return facts;
  }

  #verdictOf({ number, rule }: CompiledRule): PolicyVerdict {
    const reference = this.#referenceOf(number);
    const says = { allow: 'allows it', ask: 'asks a person first', deny: 'denies it' }[rule.decision];
    return {
      decision: rule.decision,
      reason: rule.reason ?? `rule ${number} of the policy ${says}`,
      rule: reference,
      ...(rule.flow === 'allow' ? { isFlowAllowed: true } : {}),
    };
  }

  #referenceOf(number: number): RuleReference {
    const place = this.#options.placeOf?.(number - 1);
    const text = place === undefined ? `rule ${number}` : `rule ${number} (${place})`;
    return { kind: 'rule', text, number, ...omitUndefined({ place }) };
  }
}

interface Facts {
  readonly serverPath: string;
  readonly listed?: PolicyVerdict;
  readonly rules: readonly CompiledRule[];
  readonly destructive: string | undefined;
  readonly preset: PolicyVerdict;
}

const STRANGER: ServerTraits = { isTrusted: false, labels: [] };

const BROKEN: PolicyVerdict = {
  decision: 'deny',
  reason: 'the policy could not be evaluated, so nothing is allowed',
  rule: { kind: 'broken', text: 'the policy itself' },
};

/** Without a pattern reader, a rule with a pattern is invalid. */
export const NO_PATTERNS: ReadPattern = () => undefined;

function compileAll({ settings, readPattern }: PolicyOptions): readonly CompiledRule[] | undefined {
  try {
    return settings.rules.map((rule, index) => compileRule(rule, index + 1, readPattern ?? NO_PATTERNS));
  } catch {
    return undefined;
  }
}

function listVerdict(tool: Tool, only: AllowLists | undefined): PolicyVerdict | undefined {
  // The lists are about the user's servers, whose names have no slash. Built-in servers are granted separately.
  if (tool.serverId.includes('/')) return undefined;
  const isOutside = (list: readonly string[] | undefined, fits: (pattern: string) => boolean) =>
    list !== undefined && !list.some(fits);
  const denied = (key: string, what: string): PolicyVerdict => {
    const text = `security.capabilities.mcp.${key}`;
    return { decision: 'deny', reason: `${what} is not in ${text}`, rule: { kind: 'list', text } };
  };
  if (isOutside(only?.servers, (server) => fitsExactly({ server, tool: '*' }, tool)))
    return denied('allowedServers', 'its server');
  if (isOutside(only?.tools, (entry) => isListed(entry, tool))) return denied('allowedTools', 'it');
  return undefined;
}

function presetVerdict(preset: Preset, tool: Tool, traits: ServerTraits): PolicyVerdict {
  const verdict = (decision: Decision, reason: string, clause: string): PolicyVerdict => ({
    decision,
    reason,
    rule: { kind: 'preset', text: `preset ${preset}: ${clause}`, preset },
  });
  switch (preset) {
    case 'open':
      return verdict('allow', 'no rule says otherwise', 'everything is allowed');
    case 'strict':
      return traits.isTrusted && tool.annotations?.readOnlyHint === true
        ? verdict(
            'allow',
            'its server is trusted and says that it only reads',
            'tools of trusted servers that only read are allowed',
          )
        : verdict('ask', 'nothing allows it', 'everything else asks');
    case 'default': {
      const reason = askingReason(tool, traits);
      return reason === undefined
        ? verdict('allow', 'nothing says that it is destructive', 'other tools are allowed')
        : verdict('ask', reason, 'destructive tools ask');
    }
  }
}

/**
 * An untrusted server's annotations, and its tool names, count only if they make the decision stricter. A trusted server's
 * annotations are enough.
 */
function askingReason(tool: Tool, { isTrusted, isJudgedByName }: ServerTraits): string | undefined {
  if (isTrusted && isJudgedByName !== true) return tool.annotations?.destructiveHint === true ? CLAIMED : undefined;
  return destructiveReason(tool, isTrusted);
}

const CLAIMED = 'its server says that it is destructive';

function destructiveReason(tool: Tool, isTrusted: boolean): string | undefined {
  if (tool.annotations?.destructiveHint === true) return CLAIMED;
  if (isTrusted && tool.annotations?.readOnlyHint === true) return undefined;
  const name = judgeName(tool.name);
  // A name that is not understood is not suspicious by itself, so a read-only annotation settles it.
  const isAnswered = name.isDangerous && name.isUnread === true && tool.annotations?.readOnlyHint === true;
  if (name.isDangerous && !isAnswered) return name.reason;
  return judgeDescription(tool.description ?? '', !name.isDangerous && name.saysItReads === true);
}
