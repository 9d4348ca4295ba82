import { type Client, ProtocolError } from '@modelcontextprotocol/client';
import { pause } from '../../../lib/async/pause.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { RAW } from '../sanitizing-transport.js';
import { anyResult } from './any-result.js';

/** The bounds of the poll interval of a task, whatever its server asks for. */
const MIN_POLL_MS = 50;
const MAX_POLL_MS = 5_000;
const DEFAULT_POLL_MS = 500;
const CANCEL_TIMEOUT_MS = 2_000;
const TASK_FAILED = -32_603;

export interface RunningTask {
  readonly taskId: string;
  readonly status: string;
  readonly pollMs: number;
  readonly statusMessage?: string;
}

export interface TaskWait {
  readonly remainingMs: () => number;
  readonly signal?: AbortSignal;
}

/** The task that a server returned instead of a result. */
export function taskOf(raw: unknown): RunningTask | undefined {
  const task = (raw as { task?: unknown } | null | undefined)?.task;
  if (task === null || typeof task !== 'object') return undefined;
  const { taskId, status, pollInterval, statusMessage } = task as { [key: string]: unknown };
  if (typeof taskId !== 'string' || typeof status !== 'string') return undefined;
  const asked = typeof pollInterval === 'number' && pollInterval > 0 ? pollInterval : DEFAULT_POLL_MS;
  return {
    taskId,
    status,
    pollMs: Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, asked)),
    ...(typeof statusMessage === 'string' ? { statusMessage } : {}),
  };
}

/** Polls a task until it is finished, and returns its result. If we stop waiting, the server is told. */
export async function awaitTask(client: Client, first: RunningTask, wait: TaskWait): Promise<unknown> {
  const { taskId } = first;
  let isFinished = false;
  const ask = async (method: 'tasks/get' | 'tasks/result'): Promise<unknown> => {
    const options = { timeout: wait.remainingMs(), ...omitUndefined({ signal: wait.signal }) };
    const result = (await client.request({ method, params: { taskId } }, anyResult, options)) as {
      [key: string]: unknown;
    };
    return result[RAW];
  };
  try {
    let task = first;
    while (task.status === 'working' || task.status === 'submitted') {
      await pause(Math.min(task.pollMs, wait.remainingMs()), wait.signal);
      wait.signal?.throwIfAborted();
      task = taskOf({ task: await ask('tasks/get') }) ?? task;
    }
    // Also for `input_required`: requesting the result makes the server ask its question.
    isFinished = task.status !== 'input_required';
    if (task.status === 'cancelled')
      throw new ProtocolError(TASK_FAILED, `the server cancelled the task: ${task.statusMessage ?? 'no reason given'}`);
    const result = await ask('tasks/result');
    isFinished = true;
    return result;
  } catch (error) {
    if (!isFinished) {
      const cancel = { method: 'tasks/cancel', params: { taskId } };
      void client.request(cancel, anyResult, { timeout: CANCEL_TIMEOUT_MS }).catch(() => undefined);
    }
    throw error;
  }
}
