/**
 * Whom a message in a chat speaks to, and what of it is the message (rules/providers#telegram-updates). The agent answers every text that
 * the platform hands to its bot (D32), but for a command that names another bot.
 */
import type { Entity, Question } from './update.ts';

export interface Bot {
  /** The number before the colon of its token. */
  readonly id: number | undefined;
  /** Undefined when the Bot API did not tell it: then every command may be meant for it. */
  readonly username: string | undefined;
}

export type AddressedMessage =
  | { readonly kind: 'ours'; /** What the agent is asked. */ readonly text: string }
  /** A command for this bot and no other. */
  | { readonly kind: 'other_bot'; readonly username: string };

/** A command that says nothing but that the bot is spoken to. */
const addressingCommand = 'ask';
const commandPattern = /^\/([A-Za-z0-9_]+)(?:@([A-Za-z0-9_]+))?$/;

/** True when it takes the bot's name to read the message. */
export function needsBotName(question: Question): boolean {
  return question.entities.some((entity) => ['bot_command', 'mention'].includes(entity.type) && textOf(question, entity).includes('@'));
}

/** Reads `/cmd`, `/cmd@bot` and mentions. What only addresses this bot is left out of the text. */
export function readAddress(question: Question, bot: Bot): AddressedMessage {
  const isOwnName = (name: string): boolean => bot.username === undefined || name.toLowerCase() === bot.username.toLowerCase();
  const opening = question.entities.find((entity) => entity.type === 'bot_command' && question.text.slice(0, entity.offset).trim() === '');
  const command = opening === undefined ? null : commandPattern.exec(textOf(question, opening));
  const named = command?.[2];
  if (named !== undefined && !isOwnName(named)) return { kind: 'other_bot', username: named };

  const cuts = question.entities.filter((entity) => isOwnMention(question, entity, bot));
  let text = removePieces(question.text, cuts);
  if (opening !== undefined && command !== null) {
    const rest = removePieces(
      question.text.slice(opening.offset + opening.length),
      cuts.map((entity) => ({ ...entity, offset: entity.offset - opening.offset - opening.length })),
    );
    const addressesOnly = command[1]?.toLowerCase() === addressingCommand && rest.trim() !== '';
    text = addressesOnly ? rest : `/${command[1]}${rest}`;
  }
  const trimmed = text.trim();
  return { kind: 'ours', text: trimmed === '' ? question.text.trim() : trimmed };
}

function isOwnMention(question: Question, entity: Entity, bot: Bot): boolean {
  if (entity.type === 'text_mention') return bot.id !== undefined && entity.userId === bot.id;
  return (
    entity.type === 'mention' && bot.username !== undefined && textOf(question, entity).toLowerCase() === `@${bot.username.toLowerCase()}`
  );
}

/** Takes the pieces out, each with one space beside it, so that words do not part further than they were. */
function removePieces(text: string, pieces: readonly Pick<Entity, 'offset' | 'length'>[]): string {
  let result = text;
  for (const { offset, length } of pieces.toSorted((a, b) => b.offset - a.offset)) {
    if (offset < 0 || offset + length > result.length) continue;
    const after = result.slice(offset + length);
    result = result.slice(0, offset) + (offset === 0 || /\s$/.test(result.slice(0, offset)) ? after.replace(/^[ ,:]+/, '') : after);
  }
  return result;
}

function textOf(question: Question, { offset, length }: Entity): string {
  return question.text.slice(offset, offset + length);
}
