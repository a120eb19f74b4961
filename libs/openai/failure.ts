/** What is known of a server without the library that speaks to it, whose hundreds of files are loaded with the first question (`client.ts`). */

/** Tokens as the model told them; many servers tell none. */
export interface ModelUsage {
  readonly promptTokens: number | undefined;
  readonly completionTokens: number | undefined;
}

const noUsage: ModelUsage = { promptTokens: undefined, completionTokens: undefined };

export interface ClientSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** For one attempt; there are two. */
  readonly timeoutMs: number;
}

/** Why there is no answer; `kind` is a label for metrics, the text never holds what was said. */
export class ModelFailure extends Error {
  readonly kind: 'timeout' | 'cancelled' | 'connection' | 'status' | 'unreadable' | 'truncated' | 'filtered' | 'refused' | 'empty';
  readonly status: number | undefined;
  /** Seconds that the provider asked to wait. */
  readonly retryAfter: number | undefined;
  /** What the useless answer cost. */
  readonly usage: ModelUsage;

  constructor(
    kind: ModelFailure['kind'],
    message: string,
    more: { status?: number | undefined; retryAfter?: number | undefined; usage?: ModelUsage } = {},
  ) {
    super(message);
    this.name = 'ModelFailure';
    this.kind = kind;
    this.status = more.status;
    this.retryAfter = more.retryAfter;
    this.usage = more.usage ?? noUsage;
  }
}

/** Hears an answer while it comes: the whole of what has come, again and again. */
export type TextListener = (content: string) => void;
