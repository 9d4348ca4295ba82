import type { JsonValue } from '../../domain/json.js';
import type { RecordedCall } from './recorded-call.js';

/** The tool that a recorded call was of, as its program named it. */
export interface RecordedTool {
  readonly server: string;
  readonly tool: string;
  readonly input: JsonValue | undefined;
}

/** Undefined where the call was of no server. A module's calls have the tool in their target, those of a classic script in their arguments. */
export function recordedTool({ target, argumentsJson }: RecordedCall, isClassic: boolean): RecordedTool | undefined {
  if (target.startsWith('@')) return undefined;
  const values = JSON.parse(argumentsJson) as JsonValue[];
  if (isClassic) {
    const [server, tool, input] = values;
    return typeof server === 'string' && typeof tool === 'string' ? { server, tool, input } : undefined;
  }
  const slash = target.indexOf('/');
  return slash < 1 ? undefined : { server: target.slice(0, slash), tool: target.slice(slash + 1), input: values[0] };
}
