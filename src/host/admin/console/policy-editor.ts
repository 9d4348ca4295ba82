import { hash } from 'node:crypto';
import type { Policy } from '../../../broker/policy/policy.js';
import type { CatalogSnapshot } from '../../../catalog/snapshot.js';
import type {
  DraftChange,
  DraftReport,
  DraftRequest,
  PolicyDiff,
  PolicySaved,
  PolicyView,
} from '../../../domain/console/policy.js';
import { HostError } from '../../../domain/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json.js';
import type { Decision, PolicyRule, PolicySettings } from '../../../domain/policy.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import type { CatalogTool } from '../../tools/tool-view.js';
import { cutValue } from './cut-value.js';
import type { PastCall, RunHistory } from './run-history.js';

/** The file that contains the policy, if codemode may change it. */
export interface PolicyFile {
  readonly file: string;
  readonly text: string;
  /** The rules in order, each with its location in the file. Throws `bad_config` if they are not valid. */
  readonly rules: () => readonly { readonly rule: PolicyRule; readonly place?: string }[];
  /** The file's text with one more rule. Throws `bad_input`. */
  readonly withRule: (rule: JsonObject, before: number | undefined) => string;
  readonly diff: (text: string) => string;
  /** Validates the resulting configuration, then writes it. Returns what the user has to do next. Throws `bad_config`. */
  readonly write: (text: string) => Promise<string>;
}

export interface PolicyEditorParts {
  readonly settings: PolicySettings;
  /** Locations of the configured rules, in order. */
  readonly placeOf: (ruleIndex: number) => string | undefined;
  /** Reads a rule written as in the configuration. Throws `bad_input`. */
  readonly readRule: (rule: JsonObject) => Promise<PolicyRule>;
  /** A policy like the one in use, with other rules. Throws `bad_input` for an invalid rule. */
  readonly policyWith: (rules: readonly PolicyRule[]) => Promise<Policy>;
  /** Throws `bad_input` with the reason if the policy cannot be changed from here. */
  readonly openFile: () => Promise<PolicyFile>;
  readonly history: RunHistory;
  readonly snapshot: () => CatalogSnapshot;
}

/** The number of past calls a draft is tried against. */
const TRIED_CALLS = 500;
const MAX_CHANGES = 100;
const ARGUMENT_CHARACTERS = 2_000;

interface JudgedCall {
  readonly call: PastCall;
  readonly tool: CatalogTool;
  readonly decision: Decision;
  readonly rule: number | undefined;
}

/** The policy's rules, their recent decisions, and a draft of one more rule. */
export class PolicyEditor {
  readonly #parts: PolicyEditorParts;

  constructor(parts: PolicyEditorParts) {
    this.#parts = parts;
  }

  async view(): Promise<PolicyView> {
    const { settings } = this.#parts;
    const { rules: listed, ...file } = await this.#listed();
    const { judged } = await this.#judge(await this.#policy(listed.map(({ rule }) => rule)));
    const hits = (number: number | undefined) => judged.filter(({ rule }) => rule === number).length;
    const inEffect = new Set(settings.rules.map((rule) => JSON.stringify(rule)));
    const rules = listed.map(({ rule, place }, index) => ({
      ...{ number: index + 1, decision: rule.decision, hits: hits(index + 1) },
      rule: JSON.parse(JSON.stringify(rule)) as JsonObject,
      isInEffect: inEffect.has(JSON.stringify(rule)),
      ...omitUndefined({ place }),
    }));
    const isInEffect = JSON.stringify(listed.map(({ rule }) => rule)) === JSON.stringify(settings.rules);
    const counted = { presetHits: hits(undefined), callCount: judged.length };
    return { preset: settings.preset, rules, isInEffect, ...counted, ...file };
  }

  /** The rules of the file now, or the rules in effect if no file can be read. */
  async #listed(): Promise<
    { readonly rules: ReturnType<PolicyFile['rules']> } & Pick<PolicyView, 'file' | 'fileDigest' | 'fileNote'>
  > {
    try {
      const { file, text, rules } = await this.#parts.openFile();
      return { rules: rules(), file, fileDigest: digestOf(text) };
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      const { settings, placeOf } = this.#parts;
      const rules = settings.rules.map((rule, index) => {
        const place = placeOf(index);
        return place === undefined ? { rule } : { rule, place };
      });
      return { rules, fileNote: error.message };
    }
  }

  /** What the draft would have decided about the calls of recent runs. */
  async tryDraft(draft: DraftRequest): Promise<DraftReport> {
    const listed = (await this.#listed()).rules.map(({ rule }) => rule);
    const at = placeIn(draft, listed.length);
    const rules = listed.toSpliced(at, 0, await this.#parts.readRule(draft.rule));
    const [now, then] = [await this.#policy(listed), await this.#policy(rules)];
    const before = await this.#judge(now);
    const after = await this.#judge(then, before.calls);
    const changes = after.judged.flatMap((each, index): DraftChange[] => {
      const past = before.judged[index];
      if (past === undefined || past.decision === each.decision) return [];
      const { runId, number, argumentsJson } = each.call;
      const { serverId, name: toolName } = each.tool.tool;
      const { value } = cutValue(JSON.stringify(inputOf(argumentsJson)), ARGUMENT_CHARACTERS);
      // biome-ignore lint/suspicious/noThenProperty: the word of the contract; it is never awaited
      return [{ runId, call: number, serverId, toolName, arguments: value, now: past.decision, then: each.decision }];
    });
    return {
      callCount: after.judged.length,
      hits: after.judged.filter(({ rule }) => rule === at + 1).length,
      changes: changes.slice(0, MAX_CHANGES),
      changeCount: changes.length,
      skipped: after.skipped,
    };
  }

  async diff(draft: DraftRequest): Promise<PolicyDiff> {
    const file = await this.#parts.openFile();
    await this.#parts.readRule(draft.rule);
    const text = file.withRule(draft.rule, draft.before);
    return { file: file.file, fileDigest: digestOf(file.text), diff: file.diff(text) };
  }

  /** Throws `conflict` if the file has changed since the diff was shown. */
  async save(draft: DraftRequest, fileDigest: string): Promise<PolicySaved> {
    const file = await this.#parts.openFile();
    if (digestOf(file.text) !== fileDigest)
      throw new HostError('conflict', `${file.file} was changed in the meantime; review the change again, then save`);
    await this.#parts.readRule(draft.rule);
    const text = file.withRule(draft.rule, draft.before);
    const diff = file.diff(text);
    return { file: file.file, diff, note: await file.write(text) };
  }

  #policy(rules: readonly PolicyRule[]): Promise<Policy> {
    return this.#parts.policyWith(rules);
  }

  async #judge(policy: Policy, known?: readonly PastCall[]) {
    const calls = known ?? (await this.#parts.history.pastCalls(TRIED_CALLS));
    const { toolByTarget } = this.#parts.snapshot();
    const judged: JudgedCall[] = [];
    let skipped = 0;
    for (const call of calls) {
      const tool = toolByTarget.get(call.target);
      const input = inputOf(call.argumentsJson);
      if (tool === undefined || !isJsonObject(input)) {
        skipped++;
        continue;
      }
      const { caller, profile } = call;
      const serverPath = tool.server.path;
      const { decision, rule } = policy.decide({ tool: tool.tool, serverPath, caller, profile, arguments: input });
      judged.push({ call, tool, decision, rule: rule.kind === 'rule' ? rule.number : undefined });
    }
    return { judged, skipped, calls };
  }
}

function placeIn({ before }: DraftRequest, length: number): number {
  if (before !== undefined && before > length + 1)
    throw new HostError('bad_input', `before: there are ${length} rules`);
  return before === undefined ? length : before - 1;
}

/** Programs pass one argument: the tool's input. */
function inputOf(argumentsJson: string): JsonValue {
  try {
    const given = JSON.parse(argumentsJson) as JsonValue;
    return Array.isArray(given) ? (given[0] ?? {}) : given;
  } catch {
    return null;
  }
}

function digestOf(text: string): string {
  return hash('sha256', text, 'hex');
}
