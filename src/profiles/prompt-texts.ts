import type { ScriptHead } from '../domain/script.js';
import type { ToolView } from '../host/tools/tool-view.js';
import type { Profile } from './profile.js';

/** Every text that an agent's client passes to the model at the start of code mode. */
export function promptTexts(profile: Profile, view: ToolView, scripts: readonly ScriptHead[]): string[] {
  return [
    profile.instructions(view, scripts),
    ...profile.tools.map(({ name, title, description, inputSchema, outputSchema }) =>
      JSON.stringify({ name, title, description: description(view), inputSchema, outputSchema }),
    ),
  ];
}
