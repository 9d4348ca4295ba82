import { type GateOptions, openGate } from '../../../test/support/policy.js';
import type { JsonObject } from '../../domain/json.js';
import type { Decision, PolicyRule, PolicySettings } from '../../domain/policy.js';
import type { Tool } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';

export const toolOf = (name: string, annotations?: Tool['annotations']): Tool => {
  const [serverId = '', tool = ''] = name.split('/');
  return { serverId, name: tool, ...omitUndefined({ annotations }) };
};

/** The parts of a call that differ from the defaults. */
export interface Asked {
  readonly arguments?: JsonObject;
  readonly annotations?: Tool['annotations'];
  readonly inputSchema?: JsonObject;
  readonly caller?: string;
  readonly profile?: string;
  readonly servers?: NonNullable<GateOptions['servers']>;
  readonly preset?: PolicySettings['preset'];
}

export function ask(rules: readonly PolicyRule[], name: string, asked: Asked = {}) {
  const { servers = {}, preset = 'open' } = asked;
  const { inputSchema } = asked;
  const tool = { ...toolOf(name, asked.annotations), ...omitUndefined({ inputSchema }) };
  return openGate({ rules, servers, preset }).policy.decide({
    tool,
    serverPath: tool.serverId,
    caller: asked.caller ?? 'tester',
    profile: asked.profile ?? 'codemode',
    arguments: asked.arguments ?? {},
  });
}

export const decisionOf = (...asked: Parameters<typeof ask>): Decision => ask(...asked).decision;
