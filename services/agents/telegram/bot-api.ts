/**
 * Client of the Bot API (rules/providers#telegram-updates): grammY's `Api` over checked outgoing connections. The
 * result of a send states whether the message can have arrived (D33b). Request URLs contain the token, so they are
 * never logged.
 */
import { Api, GrammyError, HttpError, type RawApi } from 'grammy';
import { type Outbound, OutboundError } from '#libs/infrastructure/outbound';
import { truncateText } from '#libs/infrastructure/text';

export type SendResult =
  | { readonly kind: 'sent'; readonly messageId: number | undefined }
  /** Telegram rejected the HTML; nothing was sent. */
  | { readonly kind: 'refused_html'; readonly error: string }
  | { readonly kind: 'migrated'; readonly chatId: number }
  | { readonly kind: 'refused'; readonly error: string }
  | { readonly kind: 'blocked'; readonly error: string }
  | { readonly kind: 'wait'; readonly seconds: number }
  /** No connection was established; nothing was sent. */
  | { readonly kind: 'not_sent'; readonly error: string }
  /** The message may have arrived. */
  | { readonly kind: 'unknown'; readonly error: string };

export interface OutgoingMessage {
  readonly chatId: number | string;
  readonly text: string;
  readonly html: boolean;
  readonly topicId?: number | undefined;
  readonly replyTo?: number | undefined;
}

export interface Identity {
  readonly id: number;
  readonly username: string | undefined;
}

export interface WebhookInfo {
  readonly url: string;
  readonly pendingUpdateCount: number;
  readonly lastErrorDate: number | undefined;
  readonly lastErrorMessage: string | undefined;
  readonly allowedUpdates: readonly string[];
}

export interface BotApi {
  send(token: string, message: OutgoingMessage, signal: AbortSignal): Promise<SendResult>;
  /**
   * Shows "typing" for a few seconds and ignores failures. Returns false when Telegram rejects the call; the caller
   * then stops.
   */
  sendTyping(token: string, chatId: number, topicId: number | undefined, signal: AbortSignal): Promise<boolean>;
  /** Returns the identity of the bot, cached for a while. Returns undefined when the Bot API does not return it. */
  identify(token: string): Promise<Identity | undefined>;
  /** Registers the webhook. @throws BotApiFailure */
  setWebhook(
    token: string,
    webhook: { url: string; secret: string | undefined; allowedUpdates: readonly string[] },
  ): Promise<void>;
  /** Returns the state of the webhook. @throws BotApiFailure */
  getWebhookInfo(token: string): Promise<WebhookInfo>;
}

/** A failed call on behalf of an operator. The message does not contain the token. */
export class BotApiFailure extends Error {
  override readonly name = 'BotApiFailure';
}

const sendTimeoutMs = 30_000;
const shortTimeoutMs = 5_000;
const identityTtlMs = 600_000;
const unknownIdentityTtlMs = 30_000;
const defaultWaitSeconds = 5;
/** Error codes of failures before any byte was sent. */
const unconnectedCodes = new Set(['UND_ERR_CONNECT_TIMEOUT']);
const htmlErrorPattern = /can't parse entities|can't find end|unsupported start tag|unclosed|unmatched end tag/i;

export function createBotApi(deps: { apiRoot: string; outbound: Outbound; sendTimeoutMs?: number }): BotApi {
  const apis = new Map<string, Api<RawApi>>();
  /** Cached identities; `until` is in the time of `performance.now()`. */
  const identities = new Map<string, { until: number; identity: Promise<Identity | undefined> }>();
  const timeoutMs = deps.sendTimeoutMs ?? sendTimeoutMs;

  function apiOf(token: string): Api<RawApi> {
    let api = apis.get(token);
    if (api === undefined) {
      // The timeout of the outgoing client applies, not grammY's: the outgoing client knows how far the request got.
      api = new Api(token, {
        apiRoot: deps.apiRoot.replace(/(?<!\/)\/+$/, ''),
        timeoutSeconds: 300,
        fetch: createFetch(deps.outbound, timeoutMs),
      });
      apis.set(token, api);
    }
    return api;
  }

  async function identify(token: string): Promise<Identity | undefined> {
    try {
      const me: unknown = await apiOf(token).getMe(AbortSignal.timeout(shortTimeoutMs) as never);
      const { id, username } = me as { id?: unknown; username?: unknown };
      return typeof id === 'number' ? { id, username: typeof username === 'string' ? username : undefined } : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    send: async (token, message, signal) => {
      const { chatId, text, html, topicId, replyTo } = message;
      try {
        const sent: unknown = await apiOf(token).sendMessage(
          chatId,
          text,
          {
            ...(html ? { parse_mode: 'HTML' as const } : {}),
            ...(topicId === undefined ? {} : { message_thread_id: topicId }),
            ...(replyTo === undefined
              ? {}
              : { reply_parameters: { message_id: replyTo, allow_sending_without_reply: true } }),
          },
          signal as never,
        );
        const id = (sent as { message_id?: unknown } | null)?.message_id;
        return { kind: 'sent', messageId: typeof id === 'number' ? id : undefined };
      } catch (error) {
        return toSendResult(error);
      }
    },
    sendTyping: async (token, chatId, topicId, signal) => {
      const topic = topicId === undefined ? {} : { message_thread_id: topicId };
      const limit = AbortSignal.any([signal, AbortSignal.timeout(shortTimeoutMs)]);
      try {
        await apiOf(token).sendChatAction(chatId, 'typing', topic, limit as never);
        return true;
      } catch (error) {
        return !(error instanceof GrammyError);
      }
    },
    identify: async (token) => {
      const cached = identities.get(token);
      if (cached !== undefined && cached.until > performance.now()) return await cached.identity;
      const entry = { until: performance.now() + unknownIdentityTtlMs, identity: identify(token) };
      identities.set(token, entry);
      const identity = await entry.identity;
      if (identity !== undefined) entry.until = performance.now() + identityTtlMs;
      return identity;
    },
    setWebhook: async (token, { url, secret, allowedUpdates }) => {
      const options = {
        allowed_updates: [...allowedUpdates] as never,
        ...(secret === undefined ? {} : { secret_token: secret }),
      };
      await callForOperator(apiOf(token).setWebhook(url, options));
    },
    getWebhookInfo: async (token) => {
      const info = await callForOperator(apiOf(token).getWebhookInfo());
      return {
        url: info.url ?? '',
        pendingUpdateCount: info.pending_update_count,
        lastErrorDate: info.last_error_date,
        lastErrorMessage: info.last_error_message,
        allowedUpdates: info.allowed_updates ?? [],
      };
    },
  };
}

/**
 * Returns a `fetch` for grammY over the checked outgoing client: no redirects, limited size, address checks at connect
 * time.
 */
function createFetch(
  outbound: Outbound,
  timeoutMs: number,
): NonNullable<ConstructorParameters<typeof Api>[1]>['fetch'] {
  const call = async (url: string, init: { body?: string; signal?: AbortSignal }): Promise<unknown> => {
    const reply = await outbound.request({
      method: 'POST',
      url,
      timeoutMs,
      headers: { 'content-type': 'application/json' },
      ...(init.body === undefined ? {} : { body: init.body }),
      ...(init.signal === undefined ? {} : { signal: toNativeSignal(init.signal) }),
    });
    const text = await reply.text();
    return { json: async () => parseReply(text, reply.status) };
  };
  return call as NonNullable<ConstructorParameters<typeof Api>[1]>['fetch'];
}

/** Converts grammY's AbortSignal, which is a separate implementation. */
function toNativeSignal(signal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  if (signal.aborted) controller.abort();
  else signal.addEventListener('abort', () => controller.abort());
  return controller.signal;
}

/** Parses a response. A response not written by the Bot API, e.g. by a proxy, is interpreted by its status. */
function parseReply(text: string, status: number): unknown {
  try {
    const answer: unknown = JSON.parse(text);
    if (
      typeof answer === 'object' &&
      answer !== null &&
      'ok' in answer &&
      (answer.ok === true || 'error_code' in answer)
    )
      return answer;
  } catch {
    // not JSON
  }
  if (status >= 400)
    return { ok: false, error_code: status, description: `status ${status} without a response of the Bot API` };
  throw new Error('unreadable response of the Bot API');
}

function toSendResult(error: unknown): SendResult {
  if (error instanceof GrammyError) return toRefusalResult(error);
  const cause = error instanceof HttpError ? error.error : error;
  if (!(cause instanceof OutboundError))
    return { kind: 'unknown', error: 'The answer of the Bot API could not be read.' };
  if (cause.kind === 'forbidden_address' || cause.kind === 'invalid_url')
    return { kind: 'refused', error: cause.message };
  const unconnected = cause.kind === 'connect' || unconnectedCodes.has(cause.code ?? '');
  return { kind: unconnected ? 'not_sent' : 'unknown', error: cause.message };
}

function toRefusalResult({ error_code: code, description, parameters }: GrammyError): SendResult {
  const error = truncateText(`${code}: ${description}`, 500);
  const migrated: unknown = parameters.migrate_to_chat_id;
  if (typeof migrated === 'number') return { kind: 'migrated', chatId: migrated };
  if (code === 429) return { kind: 'wait', seconds: Math.max(1, parameters.retry_after ?? defaultWaitSeconds) };
  if (code === 403) return { kind: 'blocked', error };
  if (code >= 500) return { kind: 'unknown', error };
  if (code === 400 && htmlErrorPattern.test(description)) return { kind: 'refused_html', error };
  return { kind: 'refused', error };
}

async function callForOperator<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const result = toSendResult(error);
    throw new BotApiFailure('error' in result ? result.error : `The Bot API returned: ${result.kind}`, {
      cause: undefined,
    });
  }
}
