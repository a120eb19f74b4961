/**
 * Telegram's Update, read loosely: fields of the wrong type count as missing (rules/providers#telegram-updates). What an update is decides its way:
 * a text of a person in a private chat, group or supergroup is answered, everything else is echoed (D32).
 */
import { isJsonObject, type JsonObject } from '#libs/json';
import { isBlank } from '#libs/text';
import { describeUnsigned, isHmac, readWebhookBody, unsignedOutcome } from '#libs/webhooks';

/** A message that the agent answers. */
export interface Question {
  readonly kind: 'question';
  readonly chatId: number;
  readonly chatType: 'private' | 'group' | 'supergroup';
  readonly messageId: number | undefined;
  /** Set for a message in a topic only: elsewhere the platform refuses it. */
  readonly topicId: number | undefined;
  readonly senderId: number | undefined;
  readonly text: string;
  readonly entities: readonly Entity[];
}

/** Part of a text that means something; offsets in UTF-16 units. */
export interface Entity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  /** Of a `text_mention`. */
  readonly userId: number | undefined;
}

/** A group has become a supergroup: both chats get such an update, `to` is set in the group's. */
export interface Migration {
  readonly kind: 'migration';
  /** The chat whose queue works the update. */
  readonly chatId: number;
  readonly from: number;
  readonly to: number;
}

export type UpdateContent = Question | Migration | { readonly kind: 'other' };

export interface Update {
  readonly updateId: number;
  /** The field that is set, e.g. `message`; `unknown` when none is. */
  readonly field: string;
  readonly chatId: number | undefined;
  readonly senderId: number | undefined;
  /** Its chat, and the chat in whose name it was written: numbers as text, and `@name` in small letters. */
  readonly places: readonly string[];
  readonly content: UpdateContent;
}

export type Verdict =
  | {
      readonly kind: 'rejected';
      readonly outcome: 'rejected_too_large' | 'rejected_secret' | 'rejected_unreadable' | typeof unsignedOutcome;
      readonly message: string;
    }
  | { readonly kind: 'update'; readonly update: Update };

/** The secret as it arrived: HMAC-SHA256 of the header under the delivery's id; null = no header. */
export interface SecretDigest {
  readonly deliveryId: string;
  readonly digest: string | null;
}

/** As text, to be kept until the agent is there; undefined = no header. */
export const encodeSecretDigest = ({ deliveryId, digest }: SecretDigest): string | undefined =>
  digest === null ? undefined : `${deliveryId}:${digest}`;

/** What `packSecret` wrote. */
export function decodeSecretDigest(text: string | null): SecretDigest {
  const end = text?.lastIndexOf(':') ?? -1;
  return text === null || end < 0 ? { deliveryId: '', digest: null } : { deliveryId: text.slice(0, end), digest: text.slice(end + 1) };
}

/** Who is believed (D31, D64). */
export interface UpdateTrust {
  /** Undefined = the agent has none. */
  readonly secret: string | undefined;
  /** Without a secret: whether anybody is believed. */
  readonly allowUnsigned: boolean;
}

/** More than the platform lets anybody write. */
const maxTextLength = 16_384;
const textFields = { texts: new Set(['text']) };
const answeredChats = ['private', 'group', 'supergroup'] as const;

/** What a webhook is. Nothing is read before somebody vouches for it. */
export function verifyUpdate(body: Buffer | null, given: SecretDigest, { secret, allowUnsigned }: UpdateTrust): Verdict {
  if (secret === undefined && !allowUnsigned) {
    return { kind: 'rejected', outcome: unsignedOutcome, message: describeUnsigned('config.messaging.webhook_secret of the agent') };
  }
  if (body === null) return { kind: 'rejected', outcome: 'rejected_too_large', message: 'The body is over the size limit.' };
  if (secret !== undefined && !isHmac(given.digest, given.deliveryId, secret)) {
    return { kind: 'rejected', outcome: 'rejected_secret', message: 'X-Telegram-Bot-Api-Secret-Token is not the one of the agent.' };
  }
  const update = readUpdate(body);
  if (update === undefined) {
    return { kind: 'rejected', outcome: 'rejected_unreadable', message: 'The body is no Update: a JSON object with an update_id.' };
  }
  return { kind: 'update', update };
}

export function readUpdate(body: Buffer): Update | undefined {
  const document = readWebhookBody(body, textFields);
  const updateId = document === undefined ? undefined : readInteger(document['update_id']);
  if (document === undefined || updateId === undefined) return undefined;
  const field = Object.keys(document).find((key) => key !== 'update_id' && isJsonObject(document[key])) ?? 'unknown';
  const inner = document[field];
  const chat = isJsonObject(inner) ? inner['chat'] : undefined;
  const chatId = isJsonObject(chat) ? readInteger(chat['id']) : undefined;
  const senderId = isJsonObject(inner) ? readInteger(readSender(inner)?.['id']) : undefined;
  const chatNames = isJsonObject(inner) ? readChatNames(inner) : [];
  const message = document['message'];
  const content: UpdateContent = isJsonObject(message) ? readMessage(message) : { kind: 'other' };
  return { updateId, field: content.kind === 'other' ? field.slice(0, 100) : 'message', chatId, senderId, places: chatNames, content };
}

function readMessage(message: JsonObject): UpdateContent {
  const other = { kind: 'other' } as const;
  const chat = message['chat'];
  if (!isJsonObject(chat)) return other;
  const chatId = readInteger(chat['id']);
  const chatType = answeredChats.find((type) => type === chat['type']);
  if (chatId === undefined) return other;
  const to = readInteger(message['migrate_to_chat_id']);
  if (to !== undefined && chatType === 'group' && isMigration(chatId, to)) return { kind: 'migration', chatId, from: chatId, to };
  const from = readInteger(message['migrate_from_chat_id']);
  if (from !== undefined && chatType === 'supergroup' && isMigration(from, chatId)) return { kind: 'migration', chatId, from, to: chatId };
  const { text } = message;
  const sender = readSender(message);
  if (chatType === undefined || typeof text !== 'string' || isBlank(text) || text.length > maxTextLength) return other;
  // A channel's posts, copied into its discussion group, are no questions either.
  if (sender?.['is_bot'] === true || message['is_automatic_forward'] === true) return other;
  return {
    kind: 'question',
    chatId,
    chatType,
    messageId: readInteger(message['message_id']),
    topicId: message['is_topic_message'] === true ? readInteger(message['message_thread_id']) : undefined,
    senderId: sender === undefined ? undefined : readInteger(sender['id']),
    text,
    entities: readEntities(message['entities']),
  };
}

function readChatNames(inner: JsonObject): string[] {
  return [inner['chat'], inner['sender_chat']]
    .filter(isJsonObject)
    .flatMap(({ id, username }) => [
      ...(readInteger(id) === undefined ? [] : [String(id)]),
      ...(typeof username === 'string' ? [`@${username.toLowerCase()}`] : []),
    ]);
}

/** Only groups become supergroups, whoever says otherwise: a private chat has a positive number, that of its person, and keeps it. */
export function isMigration(from: number, to: number): boolean {
  return from < 0 && to < 0 && from !== to;
}

/** Undefined for whoever posts as a chat, e.g. an anonymous administrator: `from` is then a bot of the platform's that stands for all of them. */
function readSender(message: JsonObject): JsonObject | undefined {
  return isJsonObject(message['from']) && !isJsonObject(message['sender_chat']) ? message['from'] : undefined;
}

function readEntities(value: unknown): Entity[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).flatMap((entity) => {
    const { type, user } = entity;
    const [offset, length] = [readInteger(entity['offset']), readInteger(entity['length'])];
    if (typeof type !== 'string' || offset === undefined || length === undefined || offset < 0 || length <= 0) return [];
    return [{ type, offset, length, userId: isJsonObject(user) ? readInteger(user['id']) : undefined }];
  });
}

/** Numbers of chats have up to 52 bits: a double holds them. */
function readInteger(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}
