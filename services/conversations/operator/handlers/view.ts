/** Conversations as operators see them: a list, and one with everything. */
import type { ReplyOf, RequestOf } from '#libs/contract';
import { appError, notFound } from '#libs/errors';
import { parseJson } from '#libs/json';
import { formatInstant } from '#libs/time';
import type { conversations } from '../../contract.ts';
import { retentionMicros, showConversation } from '../../deletion/index.ts';
import type { Dependencies } from '../../dependencies.ts';
import { requireId } from '../../ids.ts';
import { idsFromSql, instantFromSql, instantOrNull, parseSqlInstant } from '../../sql-values.ts';
import { conversationTitle } from '../../title.ts';
import { listConversations, type ListedRow } from '../statements.ts';

type Rpcs = typeof conversations.rpcs;

type Listed = ReplyOf<Rpcs['adminList']>['items'][number];

/** Whose conversations a person with a token of their own has (D69). */
export function describeAccess({ config }: Dependencies): Promise<ReplyOf<Rpcs['describeAccess']>> {
  return Promise.resolve({ access: config.CONVERSATION_ACCESS });
}

/** Latest first. @throws AppError 404 `journey_not_found`, `holon_not_found` */
export async function list(
  dependencies: Dependencies,
  { journey_slug: journey, event_slug: event, person_id: person, since, until, before, limit }: RequestOf<Rpcs['adminList']>,
): Promise<ReplyOf<Rpcs['adminList']>> {
  const { db, directory } = dependencies;
  const [journeyId, eventId] = await Promise.all([
    journey === undefined ? null : requireFound(directory.findJourneyBySlug(journey), 'journey', journey),
    event === undefined ? null : requireFound(directory.findHolonBySlug(event), 'holon', event),
  ]);
  const rows = await listConversations(db, { journeyId, eventId, personId: person, since, until, before, limit: limit + 1 });
  const items = await describeAll(dependencies, rows.slice(0, limit));
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

async function requireFound(look: Promise<{ id: number } | undefined>, what: 'journey' | 'holon', slug: string): Promise<number> {
  const found = await look;
  if (found === undefined) throw appError('not_found', `${what}_not_found`, `No ${what} has the slug "${slug}".`);
  return found.id;
}

/** One look-up of each kind for all rows. */
async function describeAll({ directory }: Dependencies, rows: readonly ListedRow[]): Promise<Listed[]> {
  const [findPerson, findHolon, findJourney] = await Promise.all([
    directory.people.lookUp(rows.flatMap((row) => idsFromSql(row.participants))),
    directory.holons.lookUp(rows.flatMap((row) => row.event_id ?? [])),
    directory.journeys.lookUp(rows.flatMap((row) => row.journey_id ?? [])),
  ]);
  return rows.map((row) => {
    const journey = row.journey_id === null ? undefined : findJourney(row.journey_id);
    const people = idsFromSql(row.participants).map((id) => findPerson(id));
    return {
      id: row.id,
      title: conversationTitle(row),
      journey: journey?.slug ?? null,
      step: journey?.steps.find(({ id }) => id === row.step_id)?.slug ?? null,
      event: (row.event_id === null ? undefined : findHolon(row.event_id))?.slug ?? null,
      start: instantOrNull(row.start),
      finish: instantOrNull(row.finish),
      participants: people.flatMap((person) => (person === undefined ? [] : [{ id: person.id, name: person.name }])),
      updated_at: instantFromSql(row.updated_at),
    };
  });
}

/** @throws AppError 404 */
export async function show(dependencies: Dependencies, request: RequestOf<Rpcs['adminShow']>): Promise<ReplyOf<Rpcs['adminShow']>> {
  const { db, directory, config } = dependencies;
  const row = await showConversation(db, { id: requireId(request.conversation_id) });
  if (row === undefined) throw notFound();
  const [[facts], findHolon] = await Promise.all([describeAll(dependencies, [row]), directory.holons.lookUp(idsFromSql(row.connected))]);
  if (facts === undefined) throw notFound();
  const { deleted_at: deletedAt, reason, by, booking_id: bookingId } = row;
  return {
    ...facts,
    connected: idsFromSql(row.connected).flatMap((id) => {
      const holon = findHolon(id);
      return holon === undefined ? [] : [{ id, slug: holon.slug, name: holon.name }];
    }),
    infos: parseJson(row.infos),
    config: parseJson(row.config),
    room: row.room === null ? null : parseJson(row.room),
    audio_blob_id: row.audio_blob_id,
    booking: bookingId === null ? null : { id: bookingId, cancelled: row.booking_cancelled === true },
    import_key: row.import_key,
    notes: row.notes,
    created_at: instantFromSql(row.created_at),
    deleted:
      deletedAt === null || reason === null || by === null
        ? null
        : {
            deleted_at: instantFromSql(deletedAt),
            reason,
            by,
            removed_from: formatInstant(parseSqlInstant(deletedAt) + retentionMicros(config)),
          },
  };
}
