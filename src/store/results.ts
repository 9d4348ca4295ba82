/** Results that were too large to pass on, stored under their handles for runs of other hosts. */
export interface ResultStore {
  write(caller: string, handle: string, json: string): Promise<void>;
  /** Undefined if this caller has no such result. */
  read(caller: string, handle: string): Promise<string | undefined>;
  remove(caller: string, handle: string): Promise<void>;
}
