/** `people erase`: starts the erasure of a person, and follows it until the end. It continues without the CLI. */
import { setTimeout as sleep } from 'node:timers/promises';
import { userInfo } from 'node:os';
import type { ReplyOf } from '#libs/contract';
import { agents } from '#services/agents';
import { directory } from '#services/directory';
import type { CliContext } from '../context.ts';
import { CliError } from '../failure.ts';
import type { KnownPerson } from './person.ts';

export type Counts = Record<string, Record<string, number>>;

type Run = ReplyOf<typeof directory.rpcs.followErasure>;

/** Interval at which the state is read. */
const pollMs = 200;

/** @returns the number of rows that an erasure would remove, by service */
export async function previewErasure(context: CliContext, person: KnownPerson): Promise<Counts> {
  return (await context.call(directory.rpcs.previewErasure, { person_id: person.id, ...chatIds(person) })).counts;
}

/**
 * Erases a person. @param onStep called before each service
 * @returns the number of removed rows by service
 * @throws CliError when a service fails; the erasure is then repeated in the background
 */
export async function erasePerson(
  context: CliContext,
  person: KnownPerson,
  onStep: (service: string) => void,
): Promise<Counts> {
  const request = { person_id: person.id, ...chatIds(person), operator: userInfo().username };
  let run: Run = await context.call(directory.rpcs.startErasure, request);
  const reported = new Set<string>();
  for (;;) {
    const current = run.services.find(({ state }) => state !== 'done')?.service ?? 'directory';
    for (const { service } of run.services) {
      if (!reported.has(service)) onStep(service);
      reported.add(service);
      if (service === current) break;
    }
    if (run.state === 'done') return Object.fromEntries(run.services.map(({ service, counts }) => [service, counts]));
    const failed = run.services.find(({ state }) => state === 'failed');
    if (failed !== undefined)
      throw new CliError(
        `${failed.service}: ${failed.error}${run.state === 'running' ? ` The erasure is repeated in the background; follow it with \`people erase ${person.id}\`.` : ''}`,
      );
    await sleep(pollMs);
    run = await context.call(directory.rpcs.followErasure, { erasure_id: run.id });
  }
}

const chatIds = ({ visitorIds, telegramUserIds }: Pick<KnownPerson, 'visitorIds' | 'telegramUserIds'>) => ({
  visitor_ids: [...visitorIds],
  telegram_user_ids: [...telegramUserIds],
});

/** Removes chats of the given visitors and Telegram users. */
export async function forgetChats(
  context: CliContext,
  { visitorIds, telegramUserIds }: Pick<KnownPerson, 'visitorIds' | 'telegramUserIds'>,
): Promise<void> {
  const chats = chatIds({ visitorIds, telegramUserIds });
  const by = { account_id: null, key_id: null, via: 'cli' };
  await context.call(agents.rpcs.erasePerson, { ...chats, dry_run: false, by });
}
