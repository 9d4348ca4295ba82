import { MAX_OPENED_BYTES } from '../../../../src/domain/console/api.js';
import type { OpenedRun } from '../../../../src/domain/console/runs.js';
import { request } from '../../api/request.js';
import { bytes } from '../../lib/format.js';
import { createStore } from '../../lib/store.js';

export interface OpenedFile extends OpenedRun {
  readonly name: string;
}

/** The opened file; it is lost with the page. */
export const openedFile = createStore<OpenedFile | undefined>(undefined);

/** The host parses an exported run and returns what to show. Nothing is stored or run. The page does not parse megabytes. */
export async function openFile(file: File): Promise<void> {
  if (file.size > MAX_OPENED_BYTES)
    throw new Error(`${file.name} has ${bytes(file.size)}: files up to ${bytes(MAX_OPENED_BYTES)} can be opened.`);
  const { run, deliveries } = await request<OpenedRun>('openRun', { body: file });
  openedFile.set({ name: file.name, run, deliveries });
}
