/** Identifies the person of `people export` and `people erase`. */
import { InvalidArgumentError } from 'commander';
import type { ReplyOf } from '#libs/contract';
import type { directory } from '#services/directory';
import type { CliContext } from '../context.ts';

/** Identifiers of a person in the services. */
export interface KnownPerson extends ReplyOf<typeof directory.rpcs.identifyPerson> {
  readonly visitorIds: readonly string[];
  readonly telegramUserIds: readonly number[];
}

/** Identifiers that the operator passes, since visitors of the chat page have no account. */
export interface IdentityOptions {
  readonly visitor?: string[];
  readonly telegramUser?: number[];
}

export async function identify(
  context: CliContext,
  identifier: string,
  options: IdentityOptions,
): Promise<KnownPerson> {
  const { directory } = await import('#services/directory'); // contracts take long to load
  const person = await context.call(directory.rpcs.identifyPerson, { who: identifier });
  return {
    ...person,
    visitorIds: options.visitor ?? [],
    telegramUserIds: [...new Set([...person.telegram_user_ids, ...(options.telegramUser ?? [])])],
  };
}

export const collectText = (value: string, known: string[] | undefined): string[] => [...(known ?? []), value];

export function collectNumber(value: string, known: number[] | undefined): number[] {
  const number = Number(value);
  if (!/^[1-9][0-9]*$/.test(value) || !Number.isSafeInteger(number))
    throw new InvalidArgumentError('must be a positive integer.');
  return [...(known ?? []), number];
}
