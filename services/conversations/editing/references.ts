/** Resolves the slugs and ids of a request to objects that the caller can see (W13, W22). */
import { isPossibleId } from '#libs/infrastructure/contract';
import { type AppError, appError } from '#libs/infrastructure/errors';
import type { RequestContext } from '#libs/infrastructure/nats';
import type { Dependencies } from '../dependencies.ts';
import { HolonVisibility } from '../directory-cache/index.ts';

/** Objects that the conversation has already. They can be named again by a caller who cannot see them otherwise. */
interface Current {
  readonly eventId: number | null;
  readonly participantIds: readonly number[];
  readonly connectedIds: readonly number[];
}

export const noCurrent: Current = { eventId: null, participantIds: [], connectedIds: [] };

interface Named {
  readonly event_slug?: string | null | undefined;
  readonly participant_ids?: readonly number[] | undefined;
  readonly connected_slugs?: readonly string[] | undefined;
}

export interface References {
  /** Undefined: not named. Null: no event. */
  readonly eventId: number | null | undefined;
  readonly participantIds: readonly number[] | undefined;
  readonly connectedIds: readonly number[] | undefined;
}

export const invalidField = (message: string): AppError => appError('bad_request', 'validation_error', message);

/**
 * Returns the ids of the named objects, without duplicates. Hidden objects are answered like unknown ones.
 * @throws AppError 400 `validation_error` for unknown ones and for a holon that is not an event
 */
export async function resolveReferences(
  { directory }: Pick<Dependencies, 'directory'>,
  { event_slug: eventSlug, participant_ids: participants, connected_slugs: connectedSlugs }: Named,
  current: Current,
  context: RequestContext,
): Promise<References> {
  const slugs = [...new Set([...(connectedSlugs ?? []), ...(typeof eventSlug === 'string' ? [eventSlug] : [])])];
  const [people, holons] = await Promise.all([
    directory.people.getMany((participants ?? []).filter(isPossibleId)),
    findHolons(directory, slugs, current, context),
  ]);
  const unknownPerson = participants?.find((id) => !people.has(id) && !current.participantIds.includes(id));
  if (unknownPerson !== undefined) throw invalidField(`participant_ids: no person has the id ${unknownPerson}.`);
  const unknownHolon = connectedSlugs?.find((slug) => !holons.has(slug));
  if (unknownHolon !== undefined) throw invalidField(`connected_slugs: no holon has the slug "${unknownHolon}".`);
  return {
    eventId:
      typeof eventSlug === 'string' ? await requireEvent(directory, eventSlug, holons.get(eventSlug)) : eventSlug,
    participantIds: participants === undefined ? undefined : [...new Set(participants)],
    connectedIds:
      connectedSlugs === undefined ? undefined : [...new Set(connectedSlugs.flatMap((slug) => holons.get(slug) ?? []))],
  };
}

/** Returns the ids of the holons that the caller can see or that are current, by slug. */
async function findHolons(
  directory: Dependencies['directory'],
  slugs: readonly string[],
  { eventId, connectedIds }: Current,
  context: RequestContext,
): Promise<Map<string, number>> {
  if (slugs.length === 0) return new Map();
  const [visible, current] = await Promise.all([
    new HolonVisibility(directory, context).findVisibleSlugs(slugs),
    directory.holons.getMany([...connectedIds, ...(eventId === null ? [] : [eventId])]),
  ]);
  return new Map([...[...current.values()].map(({ id, slug }): [string, number] => [slug, id]), ...visible]);
}

async function requireEvent(
  directory: Dependencies['directory'],
  slug: string,
  id: number | undefined,
): Promise<number> {
  const holon = id === undefined ? undefined : (await directory.holons.getMany([id])).get(id);
  if (holon?.conversationEvent !== true) throw invalidField(`event_slug: no event has the slug "${slug}".`);
  return holon.id;
}
