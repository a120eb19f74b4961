/**
 * Reads Telegram updates leniently: a field of the wrong type counts as missing (rules/providers#telegram-updates).
 * Texts that people write in private chats, groups and supergroups are answered; everything else is echoed (D32).
 */
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import { isBlank } from '#libs/infrastructure/text';
import { describeUnsigned, isHmac, readWebhookBody, unsignedOutcome } from '#libs/product/webhooks';

/** A message to be answered. */
export interface Question {
  readonly kind: 'question';
  readonly chatId: number;
  readonly chatType: 'private' | 'group' | 'supergroup';
  readonly messageId: number | undefined;
  /** Set only for messages in a topic. In other messages the platform rejects it. */
  readonly topicId: number | undefined;
  readonly senderId: number | undefined;
  readonly text: string;
  readonly entities: readonly Entity[];
}

/** Marked part of a text, e.g. a mention. Offsets are in UTF-16 units. */
export interface Entity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  /** Set only for entities of the type `text_mention`. */
  readonly userId: number | undefined;
}

/**
 * A group became a supergroup. Both chats receive such an update: the group's update contains `to`, the supergroup's
 * update contains `from`.
 */
export interface Migration {
  readonly kind: 'migration';
  /** Chat whose queue processes the update. */
  readonly chatId: number;
  readonly from: number;
  readonly to: number;
}

export type UpdateContent = Question | Migration | { readonly kind: 'other' };

export interface Update {
  readonly updateId: number;
  /** Name of the field that the update contains, e.g. `message`; otherwise `unknown`. */
  readonly field: string;
  readonly chatId: number | undefined;
  readonly senderId: number | undefined;
  /** The chat of the message, and the chat on whose behalf it was written: ids as text, and `@name` in lower case. */
  readonly chatNames: readonly string[];
  readonly content: UpdateContent;
}

export type Verdict =
  | {
      readonly kind: 'rejected';
      readonly outcome: 'rejected_too_large' | 'rejected_secret' | 'rejected_unreadable' | typeof unsignedOutcome;
      readonly message: string;
    }
  | { readonly kind: 'update'; readonly update: Update };

/** HMAC-SHA256 of the received secret under the delivery id; null = the webhook had no secret header. */
export interface SecretDigest {
  readonly deliveryId: string;
  readonly digest: string | null;
}

/** Returns the text that is stored until the agent exists; undefined = the webhook had no secret header. */
export const encodeSecretDigest = ({ deliveryId, digest }: SecretDigest): string | undefined =>
  digest === null ? undefined : `${deliveryId}:${digest}`;

/** Reverses `encodeSecretDigest`. */
export function decodeSecretDigest(text: string | null): SecretDigest {
  const end = text?.lastIndexOf(':') ?? -1;
  return text === null || end < 0
    ? { deliveryId: '', digest: null }
    : { deliveryId: text.slice(0, end), digest: text.slice(end + 1) };
}

/** Settings that decide which updates are accepted (D31, D64). */
export interface UpdateTrust {
  /** Secret of the agent's webhook; undefined = the agent has none. */
  readonly secret: string | undefined;
  /** Accepts updates for agents without a secret. */
  readonly allowUnsigned: boolean;
}

/** Maximum length of a text; longer than the platform allows. */
const maxTextLength = 16_384;
const textFields = { texts: new Set(['text']) };
const answeredChats = ['private', 'group', 'supergroup'] as const;

/** Verifies a webhook and then reads its body. */
export function verifyUpdate(
  body: Buffer | null,
  received: SecretDigest,
  { secret, allowUnsigned }: UpdateTrust,
): Verdict {
  if (secret === undefined && !allowUnsigned) {
    return {
      kind: 'rejected',
      outcome: unsignedOutcome,
      message: describeUnsigned('config.messaging.webhook_secret of the agent'),
    };
  }
  if (body === null)
    return { kind: 'rejected', outcome: 'rejected_too_large', message: 'The body exceeds the size limit.' };
  if (secret !== undefined && !isHmac(received.digest, received.deliveryId, secret)) {
    return {
      kind: 'rejected',
      outcome: 'rejected_secret',
      message: 'X-Telegram-Bot-Api-Secret-Token does not match the secret of the agent.',
    };
  }
  const update = readUpdate(body);
  if (update === undefined) {
    return {
      kind: 'rejected',
      outcome: 'rejected_unreadable',
      message: 'The body is not an Update, i.e. a JSON object with an `update_id`.',
    };
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
  return {
    updateId,
    field: content.kind === 'other' ? field.slice(0, 100) : 'message',
    chatId,
    senderId,
    chatNames,
    content,
  };
}

function readMessage(message: JsonObject): UpdateContent {
  const other = { kind: 'other' } as const;
  const chat = message['chat'];
  if (!isJsonObject(chat)) return other;
  const chatId = readInteger(chat['id']);
  const chatType = answeredChats.find((type) => type === chat['type']);
  if (chatId === undefined) return other;
  const to = readInteger(message['migrate_to_chat_id']);
  if (to !== undefined && chatType === 'group' && isMigration(chatId, to))
    return { kind: 'migration', chatId, from: chatId, to };
  const from = readInteger(message['migrate_from_chat_id']);
  if (from !== undefined && chatType === 'supergroup' && isMigration(from, chatId))
    return { kind: 'migration', chatId, from, to: chatId };
  const { text } = message;
  const sender = readSender(message);
  if (chatType === undefined || typeof text !== 'string' || isBlank(text) || text.length > maxTextLength) return other;
  // Bot messages and channel posts forwarded to the discussion group are not questions.
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

/**
 * Whether a chat can have changed its id. Only groups become supergroups: ids of private chats are positive and never
 * change.
 */
export function isMigration(from: number, to: number): boolean {
  return from < 0 && to < 0 && from !== to;
}

/**
 * Returns the sender, or undefined for senders that post as a chat, e.g. anonymous administrators: `from` is then a
 * shared bot of the platform.
 */
function readSender(message: JsonObject): JsonObject | undefined {
  return isJsonObject(message['from']) && !isJsonObject(message['sender_chat']) ? message['from'] : undefined;
}

function readEntities(value: unknown): Entity[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).flatMap((entity) => {
    const { type, user } = entity;
    const [offset, length] = [readInteger(entity['offset']), readInteger(entity['length'])];
    if (typeof type !== 'string' || offset === undefined || length === undefined || offset < 0 || length <= 0)
      return [];
    return [{ type, offset, length, userId: isJsonObject(user) ? readInteger(user['id']) : undefined }];
  });
}

/**
 * Returns an integer, or undefined for other values. Chat ids have up to 52 bits, which a double represents exactly.
 */
function readInteger(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

/** Identity of the bot. It is used to recognise messages addressed to the bot. */
export interface Bot {
  /** Id of the bot: the number before the colon of the token. */
  readonly id: number | undefined;
  /** Undefined when the Bot API did not return the name. Every command may then be for this bot. */
  readonly username: string | undefined;
}

type AddressedMessage =
  | { readonly kind: 'ours'; /** Text for the agent. */ readonly text: string }
  /** A command for another bot. */
  | { readonly kind: 'other_bot'; readonly username: string };

/** Command whose only purpose is to address the bot. */
const addressingCommand = 'ask';
const commandPattern = /^\/([A-Za-z0-9_]+)(?:@([A-Za-z0-9_]+))?$/;

/** Whether the bot's name is needed to decide if the message is for this bot. */
export function needsBotName(question: Question): boolean {
  return question.entities.some(
    (entity) => ['bot_command', 'mention'].includes(entity.type) && textOf(question, entity).includes('@'),
  );
}

/**
 * Reads `/cmd`, `/cmd@bot` and mentions (rules/providers#telegram-updates), and removes text whose only purpose is to
 * address this bot. Commands for other bots are not answered; all other texts are (D32).
 */
export function readAddress(question: Question, bot: Bot): AddressedMessage {
  const isOwnName = (name: string): boolean =>
    bot.username === undefined || name.toLowerCase() === bot.username.toLowerCase();
  const opening = question.entities.find(
    (entity) => entity.type === 'bot_command' && question.text.slice(0, entity.offset).trim() === '',
  );
  const command = opening === undefined ? null : commandPattern.exec(textOf(question, opening));
  const addressedBot = command?.[2];
  if (addressedBot !== undefined && !isOwnName(addressedBot)) return { kind: 'other_bot', username: addressedBot };

  const cuts = question.entities.filter((entity) => isOwnMention(question, entity, bot));
  let text = removePieces(question.text, cuts);
  if (opening !== undefined && command !== null) {
    const argument = removePieces(
      question.text.slice(opening.offset + opening.length),
      cuts.map((entity) => ({ ...entity, offset: entity.offset - opening.offset - opening.length })),
    );
    const addressesOnly = command[1]?.toLowerCase() === addressingCommand && argument.trim() !== '';
    text = addressesOnly ? argument : `/${command[1]}${argument}`;
  }
  const trimmed = text.trim();
  return { kind: 'ours', text: trimmed === '' ? question.text.trim() : trimmed };
}

function isOwnMention(question: Question, entity: Entity, bot: Bot): boolean {
  if (entity.type === 'text_mention') return bot.id !== undefined && entity.userId === bot.id;
  return (
    entity.type === 'mention' &&
    bot.username !== undefined &&
    textOf(question, entity).toLowerCase() === `@${bot.username.toLowerCase()}`
  );
}

/** Removes ranges of the text, each with one adjacent space, so that one space remains between words. */
function removePieces(text: string, pieces: readonly Pick<Entity, 'offset' | 'length'>[]): string {
  let result = text;
  for (const { offset, length } of pieces.toSorted((a, b) => b.offset - a.offset)) {
    if (offset < 0 || offset + length > result.length) continue;
    const after = result.slice(offset + length);
    result =
      result.slice(0, offset) +
      (offset === 0 || /\s$/.test(result.slice(0, offset)) ? after.replace(/^[ ,:]+/, '') : after);
  }
  return result;
}

function textOf(question: Question, { offset, length }: Entity): string {
  return question.text.slice(offset, offset + length);
}

export function telegramThreadKey(chatId: number, agentId: number): string {
  return `telegram:chat:${chatId}:agent:${agentId}`;
}

interface AgentChat {
  readonly agentId: number;
  readonly chatId: number;
}

export function readTelegramThreadKey(threadKey: string): AgentChat | undefined {
  const [, chatId, agentId] = /^telegram:chat:(-?\d{1,15}):agent:(\d{1,9})$/.exec(threadKey) ?? [];
  return chatId === undefined ? undefined : { chatId: Number(chatId), agentId: Number(agentId) };
}

/** Returns the `sender` value of a user's messages in Telegram threads. */
export function telegramSender(userId: number): string {
  return `telegram:user:${userId}`;
}
