import { CompareScreen } from '../run/compare-screen.js';
import { openedFile } from '../run/opened-file.js';
import { FileRunScreen, RunScreen } from '../run/run-screen.js';
import type { ScreenProps } from '../screen-props.js';
import { RunsScreen } from './runs-screen.js';

/** `#/runs`, `#/runs/ID`, `#/runs/compare/ID/ID`, `#/runs/file`. */
export function RunsRoute({ path: [first, second, third] }: ScreenProps) {
  if (first === undefined) return <RunsScreen />;
  if (first === 'compare' && second !== undefined && third !== undefined) {
    return <CompareScreen key={`${second} ${third}`} left={second} right={third} />;
  }
  const file = openedFile.get();
  if (first === 'file') return file === undefined ? <RunsScreen /> : <FileRunScreen file={file} />;
  return <RunScreen key={first} runId={first} />;
}
