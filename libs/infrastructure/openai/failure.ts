/** Settings and errors, separate from `client.ts`, whose library has hundreds of files and is loaded on first use. */

/** Tokens reported by the server; many servers do not report any. */
export interface ModelUsage {
  readonly promptTokens: number | undefined;
  readonly completionTokens: number | undefined;
}

const noUsage: ModelUsage = { promptTokens: undefined, completionTokens: undefined };

export interface ClientSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Timeout of one attempt in milliseconds; a call makes at most two attempts. */
  readonly timeoutMs: number;
}

/** A call without a usable reply. `kind` is a metric label; the message never contains message contents. */
export class ModelFailure extends Error {
  readonly kind:
    | 'timeout'
    | 'cancelled'
    | 'connection'
    | 'status'
    | 'unreadable'
    | 'truncated'
    | 'filtered'
    | 'refused'
    | 'empty';
  readonly status: number | undefined;
  /** Seconds that the provider requested to wait. */
  readonly retryAfter: number | undefined;
  /** Tokens of the unusable reply. */
  readonly usage: ModelUsage;

  constructor(
    kind: ModelFailure['kind'],
    message: string,
    details: { status?: number | undefined; retryAfter?: number | undefined; usage?: ModelUsage } = {},
  ) {
    super(message);
    this.name = 'ModelFailure';
    this.kind = kind;
    this.status = details.status;
    this.retryAfter = details.retryAfter;
    this.usage = details.usage ?? noUsage;
  }
}

/** Called repeatedly, each time with the complete text so far. */
export type TextListener = (content: string) => void;
