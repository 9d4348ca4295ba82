import { breakEvenOf } from '../../../host/admin/break-even.js';
import type { Finding } from '../../../host/admin/inspection.js';
import { measureTokens } from '../../../host/admin/measure.js';
import { judge, WORTH_TOKENS, WORTH_TOOLS } from '../../../host/admin/measure-levels.js';
import type { ToolView } from '../../../host/tools/tool-view.js';

/**
 * Reports, with numbers, if a model is better off with the tools directly, and what `auto` chooses. Empty if code mode pays off.
 * `view` has the tools for code, `told` is what an agent reads about them.
 */
export function codeModeFindings(view: ToolView, told: readonly string[], enabled: boolean | 'auto'): Finding[] {
  const report = measureTokens(view, told);
  const { tools, definitions } = report;
  if (enabled === false || tools === 0) return [];
  const { codeMode, isBelow } = breakEvenOf(view, told);
  const finding = (message: string): Finding[] => [{ name: 'Code mode', state: 'ok', message }];
  const counted = `the definitions of ${tools} ${tools === 1 ? 'tool' : 'tools'} have ${definitions} tokens, and code mode takes ${codeMode}`;
  if (enabled === 'auto') {
    const chosen = isBelow ? 'agents get the tools directly' : 'agents get code mode';
    return finding(`${chosen} (defaults.codeMode.enabled: auto): ${counted}`);
  }
  if (tools < WORTH_TOOLS && definitions <= WORTH_TOKENS) return finding(`${judge(report, []).reason} ${ADVICE}`);
  return isBelow ? finding(`${counted}: give them to the model directly ${ADVICE}`) : [];
}

const ADVICE = '(defaults.codeMode.enabled: false, or auto), unless their answers are large. More: codemode measure';
