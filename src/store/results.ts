/** Results that were too large to pass on, under their handles, for runs of other hosts. */
export interface ResultStore {
  write(caller: string, handle: string, json: string): Promise<void>;
  /** Undefined where there is none of this caller. */
  read(caller: string, handle: string): Promise<string | undefined>;
  remove(caller: string, handle: string): Promise<void>;
}
