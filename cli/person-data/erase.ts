/** `people erase`: starts the erasure of a person, and follows it until the end. It continues without the CLI. */
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '#libs/infrastructure/errors';
import type { GetPersonErasureReply } from '../../clients/typescript/operations.ts';
import type { CliContext } from '../context.ts';
import { CliError } from '../failure.ts';
import { chatsOf, type ChatOptions, type FoundPerson } from './person.ts';

export type Counts = Record<string, Record<string, number>>;

export type Erasure = GetPersonErasureReply['body']['erasure'];

/** Interval at which the state is read. */
const pollMs = 200;

interface EraseOptions {
  readonly chats: ChatOptions;
  /** Count only. */
  readonly dryRun: boolean;
  /** Called before each service. */
  readonly onStep: (service: string) => void;
}

/**
 * Erases a person, or follows the erasure of a person who no longer exists. Returns the number of removed rows by
 * service.
 * @throws CliError when a service fails; the erasure is then repeated in the background
 */
export async function erasePerson(
  context: CliContext,
  { id, name }: FoundPerson,
  { chats, dryRun, onStep }: EraseOptions,
): Promise<Counts> {
  const path = { person_id: id };
  const read = async (): Promise<Erasure> => (await context.http((api) => api.getPersonErasure({ path }))).body.erasure;
  if (name === null) {
    const given = chatsOf(chats);
    if (Object.keys(given).length > 0)
      throw new CliError(`Person ${id} was erased. Remove chats with \`agents forget\`.`);
    const last = dryRun ? undefined : await read().catch(ignoreNotFound);
    return last === undefined ? {} : followErasure(id, last, { read, onStep });
  }
  const body = { confirm: name, ...chatsOf(chats), ...(dryRun ? { dry_run: true } : {}) };
  // An erasure that was started before can have removed the person since they were found.
  const reply = await context.http((api) => api.erasePerson({ path, body }), `person ${id}`).catch(ignoreNotFound);
  return reply !== undefined && 'counts' in reply.body
    ? reply.body.counts
    : followErasure(id, await read(), { read, onStep });
}

function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
}

/**
 * Follows an erasure until the end. Returns the number of removed rows by service. @throws CliError when a service
 * fails
 */
export async function followErasure(
  personId: number,
  first: Erasure,
  { read, onStep }: { readonly read: () => Promise<Erasure>; readonly onStep: (service: string) => void },
): Promise<Counts> {
  const reported = new Set<string>();
  for (let run = first; ; run = await read()) {
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
        `${failed.service}: ${failed.error}${run.state === 'running' ? ` The erasure is repeated in the background; follow it with \`people erase ${personId}\`.` : ''}`,
      );
    await sleep(pollMs);
  }
}
