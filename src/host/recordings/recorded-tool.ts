import type { JsonValue } from '../../domain/json.js';
import type { RecordedCall } from './recorded-call.js';

/** The tool of a recorded call, as the program named it. */
export interface RecordedTool {
  readonly server: string;
  readonly tool: string;
  readonly input: JsonValue | undefined;
}

/** Undefined if the call was not to a server. A module's call has the tool in its target, a classic script's call in its arguments. */
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
