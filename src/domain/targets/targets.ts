import { HTTP, type HttpTarget, WEBSOCKET, type WebSocketTarget } from './http.js';
import { OPENAPI, type OpenApiTarget } from './openapi.js';
import { STDIO, type StdioTarget } from './stdio.js';
import type { TargetKind } from './target-kind.js';

/** The location of an upstream and its protocol. Values may be secret: never print one unredacted. */
export type UpstreamTarget = McpTarget | OpenApiTarget;
export type McpTarget = StdioTarget | HttpTarget | WebSocketTarget;

type Kinds = { readonly [Kind in UpstreamTarget['kind']]: TargetKind<Extract<UpstreamTarget, { kind: Kind }>> };

const KINDS: Kinds = { stdio: STDIO, http: HTTP, websocket: WEBSOCKET, openapi: OPENAPI };

/** The definition of this target's kind. */
export function kindOf<Target extends UpstreamTarget>({ kind }: Target): TargetKind<Target> {
  return KINDS[kind] as unknown as TargetKind<Target>;
}
