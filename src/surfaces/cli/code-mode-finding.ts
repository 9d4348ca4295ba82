import type { Finding } from '../../host/admin/inspection.js';
import { measureTokens } from '../../host/admin/measure.js';
import { judge, WORTH_TOKENS, WORTH_TOOLS } from '../../host/admin/measure-levels.js';
import type { ToolView } from '../../host/tools/tool-view.js';

/** Says with the numbers where a model is better given the tools directly; nothing where code mode pays. */
export function codeModeFindings(view: ToolView, isEnabled: boolean): Finding[] {
  const report = measureTokens(view, []);
  const { tools, definitions } = report;
  if (!isEnabled || tools === 0 || tools >= WORTH_TOOLS || definitions > WORTH_TOKENS) return [];
  const { reason } = judge(report, []);
  const message = `${reason} (defaults.codeMode.enabled: false), unless their answers are large. More: codemode measure`;
  return [{ name: 'Code mode', state: 'ok', message }];
}
