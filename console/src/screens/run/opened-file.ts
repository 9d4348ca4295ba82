import type { DeliveryView, ExportedRun, RunDetail } from '../../../../src/domain/console/runs.js';
import { request } from '../../api/request.js';
import { createStore } from '../../lib/store.js';

export interface OpenedFile {
  readonly name: string;
  readonly run: RunDetail;
  readonly deliveries: readonly DeliveryView[];
}

/** The file on the screen; gone with the page. */
export const openedFile = createStore<OpenedFile | undefined>(undefined);

/** Reads an exported run. The host checks what it says; nothing of it is stored or run. */
export async function openFile(file: File): Promise<void> {
  let content: ExportedRun;
  try {
    content = JSON.parse(await file.text()) as ExportedRun;
  } catch {
    throw new Error(`${file.name} is not a file that the console exported: it is not JSON.`);
  }
  const run = await request<RunDetail>('openRun', { body: content });
  const deliveries = Array.isArray(content.deliveries) ? content.deliveries : [];
  openedFile.set({ name: file.name, run, deliveries });
}
