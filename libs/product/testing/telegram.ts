/**
 * A fake Bot API server (rules/providers#telegram-updates): the wire format of api.telegram.org, with its HTML parsing,
 * and every fault that a sender must survive. An accepted message counts as delivered, whatever response the sender
 * received.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { HtmlRejectedError, readTelegramHtml } from './message-html.ts';

/** Fault of one `sendMessage` request. */
export type BotApiFault =
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly description: string;
      readonly parameters?: Record<string, unknown>;
    }
  /** Responds with 429. Further messages of this chat are rejected until the time is over. */
  | { readonly kind: 'wait'; readonly seconds: number }
  /** Responds with a 5xx status and an HTML page. `delivered`: whether the message is accepted nevertheless. */
  | { readonly kind: 'broken'; readonly status: number; readonly delivered: boolean }
  /** Closes the connection without a response. */
  | { readonly kind: 'dropped'; readonly delivered: boolean }
  /** Never responds. */
  | { readonly kind: 'silent'; readonly delivered: boolean }
  /** Responds after this time. */
  | { readonly kind: 'slow'; readonly delayMs: number };

export interface BotApiCall {
  readonly token: string;
  readonly method: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A message in a chat. */
export interface VisibleMessage {
  readonly chatId: number | string;
  readonly messageId: number;
  /** Text that the reader sees, without markup. */
  readonly text: string;
  /** Text as it was sent, with markup. */
  readonly source: string;
  readonly html: boolean;
  readonly topicId: number | undefined;
  readonly replyTo: number | undefined;
}

export interface TelegramServer {
  /** Value for TELEGRAM_API_ROOT. */
  readonly apiRoot: string;
  /** All calls, including rejected ones, oldest first. */
  readonly calls: readonly BotApiCall[];
  /** Delivered messages of all chats, oldest first. */
  readonly visible: readonly VisibleMessage[];
  /** Number of messages that were sent before the wait time of a 429 was over. */
  readonly impatient: number;
  /** Returns the visible texts of one chat. */
  textsOf(chatId: number | string): string[];
  callsOf(method: string): BotApiCall[];
  /** Makes the next messages to this chat fail, each with one of the faults in order. */
  fail(chatId: number | string, ...faults: BotApiFault[]): void;
  /** Rejects messages of the bot to this chat until it is unblocked. */
  block(chatId: number): void;
  unblock(chatId: number): void;
  /** Turns the group into a supergroup: messages to `from` are rejected with the new id. */
  migrate(from: number, to: number): void;
  /** Sets whether the HTML of every message is rejected. */
  refuseHtml(refuse: boolean): void;
  /** Delays the response to every message by this time. */
  delay(ms: number): void;
  stop(): Promise<void>;
}

const maxTextUnits = 4_096;
const maxRawBytes = 32_768;

class BotApiError extends Error {
  readonly status: number;
  readonly parameters: Record<string, unknown> | undefined;

  constructor(status: number, description: string, parameters?: Record<string, unknown>) {
    super(description);
    this.status = status;
    this.parameters = parameters;
  }
}

/** Starts the server on the loopback interface. Every bot has this `username`; `port` 0 uses any free port. */
export async function startTelegram(options: { username?: string; port?: number } = {}): Promise<TelegramServer> {
  const username = options.username ?? 'example_bot';
  const calls: BotApiCall[] = [];
  const visible: VisibleMessage[] = [];
  const faults = new Map<string, BotApiFault[]>();
  const blocked = new Set<string>();
  const migrated = new Map<string, number>();
  const webhooks = new Map<string, Record<string, unknown>>();
  const closedUntilMs = new Map<string, number>();
  let impatient = 0;
  let refusesHtml = false;
  let delayMs = 0;
  let nextMessageId = 1;

  const show = (body: Readonly<Record<string, unknown>>): VisibleMessage => {
    const { chat_id: chatId, text, parse_mode: mode, message_thread_id: topicId, reply_parameters: reply } = body;
    if (typeof chatId !== 'number' && typeof chatId !== 'string')
      throw new BotApiError(400, 'Bad Request: chat_id is empty');
    if (blocked.has(String(chatId))) throw new BotApiError(403, 'Forbidden: bot was blocked by the user');
    const target = migrated.get(String(chatId));
    if (target !== undefined) {
      throw new BotApiError(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
        migrate_to_chat_id: target,
      });
    }
    if (typeof text !== 'string' || text.trim() === '')
      throw new BotApiError(400, 'Bad Request: message text is empty');
    if (Buffer.byteLength(text) > maxRawBytes) throw new BotApiError(400, 'Bad Request: text is too long');
    const html = typeof mode === 'string' && mode.toLowerCase() === 'html';
    if (html && refusesHtml)
      throw new BotApiError(400, `Bad Request: can't parse entities: Unsupported start tag "x" at byte offset 0`);
    const visibleText = html ? readTelegramHtml(text) : text;
    if (visibleText.trim() === '') throw new BotApiError(400, 'Bad Request: message text is empty');
    if (visibleText.length > maxTextUnits) throw new BotApiError(400, 'Bad Request: message is too long');
    const replyTo = (reply as { message_id?: unknown } | undefined)?.message_id;
    const message = {
      chatId,
      messageId: nextMessageId++,
      text: visibleText,
      source: text,
      html,
      topicId: typeof topicId === 'number' ? topicId : undefined,
      replyTo: typeof replyTo === 'number' ? replyTo : undefined,
    };
    visible.push(message);
    return message;
  };

  const closeChat = (chat: string, seconds: number): BotApiError => {
    closedUntilMs.set(chat, Date.now() + seconds * 1000);
    return new BotApiError(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
  };

  const sendMessage = async (call: BotApiCall, response: ServerResponse): Promise<void> => {
    const chat = String(call.body['chat_id']);
    if (Date.now() < (closedUntilMs.get(chat) ?? 0)) {
      impatient++;
      throw closeChat(chat, 1);
    }
    const fault = faults.get(chat)?.shift();
    const pauseMs = fault?.kind === 'slow' ? fault.delayMs : delayMs;
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (fault?.kind === 'error') throw new BotApiError(fault.status, fault.description, fault.parameters);
    if (fault?.kind === 'wait') throw closeChat(chat, fault.seconds);
    if (fault !== undefined && fault.kind !== 'slow') {
      if (fault.delivered) show(call.body);
      if (fault.kind === 'broken')
        response.writeHead(fault.status, { 'Content-Type': 'text/html' }).end('<html>Bad Gateway</html>');
      else if (fault.kind === 'dropped') response.destroy();
      return;
    }
    const { messageId, chatId, text } = show(call.body);
    sendOk(response, {
      message_id: messageId,
      date: Math.floor(Date.now() / 1000),
      chat: { id: chatId, type: 'private' },
      text,
    });
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readText(request);
    const [, token, method] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? '') ?? [];
    if (token === undefined || method === undefined) throw new BotApiError(404, 'Not Found');
    const call = { token, method, body: body === '' ? {} : (JSON.parse(body) as Record<string, unknown>) };
    calls.push(call);
    switch (method.toLowerCase()) {
      case 'sendmessage':
        return await sendMessage(call, response);
      case 'sendchataction':
        if (blocked.has(String(call.body['chat_id'])))
          throw new BotApiError(403, 'Forbidden: bot was blocked by the user');
        return sendOk(response, true);
      case 'getme':
        return sendOk(response, { id: Number.parseInt(token, 10) || 1, is_bot: true, first_name: 'Example', username });
      case 'setwebhook':
        requireHttps(call.body['url']);
        webhooks.set(token, call.body);
        return sendOk(response, true);
      case 'getwebhookinfo': {
        const { url = '', allowed_updates: allowed = [] } = webhooks.get(token) ?? {};
        return sendOk(response, {
          url,
          has_custom_certificate: false,
          pending_update_count: 0,
          allowed_updates: allowed,
        });
      }
      default:
        throw new BotApiError(404, 'Not Found: method not found');
    }
  };

  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    serve(request, response).catch((error: unknown) => sendError(response, error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  return {
    apiRoot: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    visible: visible,
    get impatient() {
      return impatient;
    },
    textsOf: (chatId) => visible.filter((message) => message.chatId === chatId).map((message) => message.text),
    callsOf: (method) => calls.filter((call) => call.method.toLowerCase() === method.toLowerCase()),
    fail: (chatId, ...more) => void faults.set(String(chatId), [...(faults.get(String(chatId)) ?? []), ...more]),
    block: (chatId) => void blocked.add(String(chatId)),
    unblock: (chatId) => void blocked.delete(String(chatId)),
    migrate: (from, to) => void migrated.set(String(from), to),
    refuseHtml: (refuse) => void (refusesHtml = refuse),
    delay: (ms) => void (delayMs = ms),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function requireHttps(url: unknown): void {
  if (typeof url === 'string' && url.startsWith('https://')) return;
  throw new BotApiError(400, 'Bad Request: bad webhook: An HTTPS URL must be provided for webhook');
}

function sendOk(response: ServerResponse, result: unknown): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ ok: true, result }));
}

function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  const known =
    error instanceof BotApiError
      ? error
      : error instanceof HtmlRejectedError
        ? new BotApiError(400, `Bad Request: can't parse entities: ${error.message}`)
        : new BotApiError(400, 'Bad Request: the request cannot be read');
  const answer = {
    ok: false,
    error_code: known.status,
    description: known.message,
    ...(known.parameters === undefined ? {} : { parameters: known.parameters }),
  };
  response.writeHead(known.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
}
