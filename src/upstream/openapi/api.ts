import { hash } from 'node:crypto';
import type { JsonObject } from '../../domain/json.js';
import type { OpenApiTarget } from '../../domain/targets/openapi.js';
import type { Tool } from '../../domain/tool.js';
import { traceCarrier } from '../../domain/trace.js';
import {
  callTimeoutOf,
  type ToolListing,
  type UpstreamCall,
  type UpstreamDefinition,
  type UpstreamFailure,
  type UpstreamIdentity,
  type UpstreamOutcome,
} from '../../domain/upstream.js';
import { LinkedAbort } from '../../lib/async/linked-abort.js';
import { secretsOfAddress } from '../../lib/secrets/address-secrets.js';
import { SecretMask, secretsOf } from '../../lib/secrets/mask.js';
import { BoundedLines, oneLine } from '../../lib/text/bounded-text.js';
import { replyOf } from './answer.js';
import { type BaseUrl, baseUrlOf } from './base-url.js';
import { type Presented, presentedBy } from './credentials.js';
import { AddressRefused, AnswerTooLong, type HttpAnswer, HttpClient, type HttpRequest } from './http-client.js';
import { type OperationSource, operationsOf } from './operations.js';
import { type Plan, type PlanParts, planOf, toolOf } from './plan.js';
import { Pointers } from './pointer.js';
import { parseApiDocument, readDocumentText } from './read-document.js';
import { BadArguments, requestOf } from './request.js';
import { SchemaRegistry } from './schemas.js';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const MAX_WARNINGS = 100;
/**
 * The limit for all tools together, because they are kept on disk and read at every start. Each schema gets its share. In a
 * document in which everything references everything, distant schemas are declared as anything.
 */
const MAX_LISTING_CHARACTERS = 24 * 1024 * 1024;
const SCHEMA_CHARACTERS = { least: 2_000, most: 48_000 };
/** How much of an API's own description is passed on. */
const MAX_INSTRUCTIONS_CHARACTERS = 4_000;

export type ApiDefinition = UpstreamDefinition<OpenApiTarget>;

/** One API: its parsed document, and calls of its operations. An operation is parsed at its first use. */
export class Api {
  readonly identity: UpstreamIdentity;
  readonly #definition: ApiDefinition;
  readonly #digest: string;
  readonly #client: HttpClient;
  readonly #operations: ReadonlyMap<string, OperationSource>;
  readonly #parts: PlanParts;
  readonly #presented: Presented;
  readonly #mask: SecretMask;
  readonly #plans = new Map<string, Plan>();
  readonly #warnings = new BoundedLines(MAX_WARNINGS);
  #listing: ToolListing | undefined;

  /** Reads the document. Returns `previous` if it is unchanged. Throws an error with the reason, which contains no secrets. */
  static async open(definition: ApiDefinition, signal: AbortSignal, previous?: Api): Promise<Api> {
    const { target, connectTimeoutMs } = definition;
    const reader = new HttpClient({ isPublicOnly: false, connectTimeoutMs });
    try {
      const text = await readDocumentText(target, reader, signal);
      const digest = hash('sha256', text);
      if (previous !== undefined && previous.#digest === digest) return previous;
      const document = parseApiDocument(text);
      return new Api(definition, document, baseUrlOf(target, document), digest);
    } catch (error) {
      throw new Error(oneLine(maskOf(target).apply(reasonOf(error)), 600), { cause: error });
    } finally {
      await reader.close();
    }
  }

  private constructor(definition: ApiDefinition, document: JsonObject, base: BaseUrl, digest: string) {
    const { target, connectTimeoutMs } = definition;
    const warn = (warning: string) => this.#warnings.add(warning);
    const pointers = new Pointers(document);
    this.#definition = definition;
    this.#digest = digest;
    this.#mask = maskOf(target);
    this.#presented = presentedBy(target, document, pointers);
    this.#client = new HttpClient({ isPublicOnly: base.isForeign, connectTimeoutMs });
    this.#operations = operationsOf(document, pointers, base, warn);
    const share = MAX_LISTING_CHARACTERS / (2 * this.#operations.size);
    const maxCharacters = Math.max(SCHEMA_CHARACTERS.least, Math.min(SCHEMA_CHARACTERS.most, share));
    const schemas = new SchemaRegistry(pointers, maxCharacters, warn);
    this.#parts = { document, pointers, schemas, presets: this.#presented.presets };
    this.identity = identityOf(document);
  }

  list(): ToolListing {
    this.#listing ??= this.#list();
    return this.#listing;
  }

  #list(): ToolListing {
    const tools: Tool[] = [];
    let characters = 0;
    for (const [name, source] of this.#operations) {
      try {
        const tool = toolOf(this.#definition.id, this.#plan(source), this.#parts);
        characters += JSON.stringify(tool).length;
        const { outputSchema: _, ...shorter } = tool;
        if (characters > MAX_LISTING_CHARACTERS)
          this.#warnings.add('the document is too large: some results have no types');
        tools.push(characters > MAX_LISTING_CHARACTERS ? shorter : tool);
      } catch (error) {
        this.#warnings.add(`operation ${name} was left out: ${oneLine(reasonOf(error), 200)}`);
      }
    }
    return { tools, warnings: this.#warnings.list() };
  }

  async call(
    { tool, arguments: input, signal, trace, ...times }: UpstreamCall,
    closed: AbortSignal,
  ): Promise<UpstreamOutcome> {
    const source = this.#operations.get(tool);
    if (source === undefined) return failed('refused', `there is no operation ${JSON.stringify(tool)}`, false);
    const limitMs = callTimeoutOf(this.#definition, times);
    const late = AbortSignal.timeout(limitMs);
    const ends = new LinkedAbort([late, closed, signal]);
    const stop = ends.signal;
    try {
      const request = requestOf(this.#plan(source), input, this.#presented);
      if (trace !== undefined && !request.headers.has('traceparent'))
        for (const [name, value] of Object.entries(traceCarrier(trace))) request.headers.set(name, value);
      const answer = await this.#send({ ...request, signal: stop, maxBytes: MAX_ANSWER_BYTES });
      return { status: 'answered', reply: replyOf(answer, `openapi:${this.#definition.id}/${tool}`) };
    } catch (error) {
      if (error instanceof BadArguments) return failed('refused', error.message, false);
      if (error instanceof AnswerTooLong) return failed('invalid_reply', error.message, true);
      if (late.aborted) return failed('timeout', `no answer within ${limitMs} ms`, true);
      if (stop.aborted) return failed('cancelled', 'the call was cancelled', true);
      const message = oneLine(this.#mask.apply(reasonOf(error)), 600);
      return wasSent(error) ? failed('outcome_unknown', message, true) : failed('not_sent', message, false);
    } finally {
      ends.release();
    }
  }

  /** `calls`: whether calls in flight may finish. */
  async close(calls: 'end' | 'finish' = 'end'): Promise<void> {
    await this.#client.close(calls);
  }

  /** Only GET and HEAD follow redirects, and only within the API's origin. */
  async #send(request: HttpRequest): Promise<HttpAnswer> {
    let { url } = request;
    for (let hops = 0; ; hops += 1) {
      const answer = await this.#client.send({ ...request, url });
      const { location } = answer;
      if (location === undefined || hops === MAX_REDIRECTS || !/^(GET|HEAD)$/.test(request.method)) return answer;
      const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
      if (next?.origin !== url.origin) return answer;
      url = next;
    }
  }

  #plan(source: OperationSource): Plan {
    const known = this.#plans.get(source.name);
    if (known !== undefined) return known;
    const plan = planOf(source, this.#parts);
    this.#plans.set(source.name, plan);
    return plan;
  }
}

function identityOf({ info, openapi }: JsonObject): UpstreamIdentity {
  const { title, version, description } = (typeof info === 'object' && info !== null ? info : {}) as JsonObject;
  return {
    ...(typeof title === 'string' ? { name: oneLine(title, 200) } : {}),
    ...(typeof version === 'string' ? { version: oneLine(version, 100) } : {}),
    ...(typeof description === 'string' ? { instructions: description.slice(0, MAX_INSTRUCTIONS_CHARACTERS) } : {}),
    protocolVersion: `OpenAPI ${String(openapi)}`,
    transport: 'openapi',
  };
}

function maskOf({ headers, auth, document, baseUrl }: OpenApiTarget): SecretMask {
  const { type: _, ...secrets } = auth ?? { type: 'none' };
  return new SecretMask([
    ...secretsOf({ ...headers, ...(secrets as Record<string, string>) }),
    ...[document, baseUrl ?? ''].flatMap(secretsOfAddress),
  ]);
}

/** Errors before a connection existed, so nothing was sent. */
const NEVER_CONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_.*|.*_CERT.*)$/;

function wasSent(error: unknown): boolean {
  const cause = (error as { cause?: unknown }).cause ?? error;
  return !(cause instanceof AddressRefused) && !NEVER_CONNECTED.test((cause as NodeJS.ErrnoException).code ?? '');
}

function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  if (cause instanceof Error) {
    const { code } = cause as NodeJS.ErrnoException;
    return code === undefined ? cause.message : `it cannot be reached (${code})`;
  }
  return error instanceof Error ? error.message : String(error);
}

function failed(kind: UpstreamFailure['kind'], message: string, mayHaveRun: boolean): UpstreamOutcome {
  return { status: 'failed', failure: { kind, message, mayHaveRun } };
}
