/** What `normalize` returns to a program of the contract `runner`, for host code that receives it. */
export type ToolCallResult<Value> =
  | { readonly ok: true; readonly data: Value; readonly raw: unknown }
  | {
      readonly ok: false;
      readonly error: { readonly type: string; readonly message: string; readonly retryable: boolean };
      readonly raw?: unknown;
    };
