/** Browse of conversations (rules/discovery#browse; D17, D18a to D18f, D28). */
import { isPossibleId, type RequestOf } from '#libs/contract';
import { AppError, notFound } from '#libs/errors';
import { jsonStream, type JsonStream, type RequestContext } from '#libs/nats';
import type { conversations } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import { type CachedJourney, HolonVisibility } from '../../directory-cache/index.ts';
import { type PublicRow, streamGroups, streamJourney } from '../statements/browse.ts';
import { renderPublicConversations } from '../view.ts';

type Rpcs = typeof conversations.rpcs;

/** Conversations of one group: an event with one of its journeys. */
interface Group {
  readonly eventId: number;
  readonly journeyId: number;
  /** Text before the group's first conversation. */
  readonly head: string;
  /** Text after its last one. */
  readonly tail: string;
}

/** GET /browse/holons/{holon_slug}/conversations. @throws AppError 404 when there is no such holon for the caller */
export async function browseHolon(
  dependencies: Dependencies,
  request: RequestOf<Rpcs['browseHolon']>,
  context: RequestContext,
): Promise<JsonStream> {
  const { db, directory, access } = dependencies;
  const visibility = new HolonVisibility(directory, context);
  const [{ holon, events }, scope] = await Promise.all([visibility.browse(request.holon_slug), access.findScope(context)]);
  const journeys = await directory.journeys.getMany(events.flatMap((event) => event.journeys.items.map((journey) => journey.id)));
  const groups: Group[] = [];
  let open = `{"holon":${JSON.stringify(holon)},"events":[`;
  for (const [index, { journeys: attached, ...event }] of events.entries()) {
    open += `${index === 0 ? '' : ','}${JSON.stringify(event).slice(0, -1)},"journeys":[`;
    const known = attached.items.flatMap(({ id }) => journeys.get(id) ?? []);
    for (const [position, journey] of known.entries()) {
      const head = `${open}${position === 0 ? '' : ','}{"journey":${journey.browseJson},"conversations":[`;
      groups.push({ eventId: event.id, journeyId: journey.id, head, tail: ']}' });
      open = '';
    }
    open += ']}';
  }
  const read = () => streamGroups(db, groups, scope);
  return jsonStream(writeGroups(dependencies, visibility, groups, groups.length === 0 ? undefined : read, `${open}]}`));
}

/**
 * GET /browse/conversations.
 * @throws AppError 400 when not exactly one of `journey_id` and `journey_slug` is given, 404 when the journey is no conversation journey
 *   or there is no such holon for the caller
 */
export async function browseJourney(
  dependencies: Dependencies,
  request: RequestOf<Rpcs['browseJourney']>,
  context: RequestContext,
): Promise<JsonStream> {
  const { db, directory, access } = dependencies;
  if ((request.journey_id === undefined) === (request.journey_slug === undefined)) {
    throw new AppError({ code: 'bad_request', message: 'Exactly one of journey_id and journey_slug must be provided.' });
  }
  const visibility = new HolonVisibility(directory, context);
  const [journey, eventId, scope] = await Promise.all([
    findJourney(dependencies, request),
    request.holon_slug === undefined ? null : visibility.findVisible(request.holon_slug),
    access.findScope(context),
  ]);
  if (journey?.isConversation !== true || eventId === undefined) throw notFound();
  const isEvent = eventId !== null && (await directory.holons.getMany([eventId])).get(eventId)?.conversationEvent === true;
  const group: Group = {
    eventId: eventId ?? 0,
    journeyId: journey.id,
    head: `{"journey":${journey.browseJson},"conversations":[`,
    tail: ']',
  };
  const read = () => (eventId === null ? streamJourney(db, journey.id, scope) : streamGroups(db, [group], scope));
  return jsonStream(writeGroups(dependencies, visibility, [group], eventId === null || isEvent ? read : undefined, '}'));
}

async function findJourney({ directory }: Dependencies, request: RequestOf<Rpcs['browseJourney']>): Promise<CachedJourney | undefined> {
  const { journey_id: id, journey_slug: slug } = request;
  if (slug !== undefined) return directory.findJourneyBySlug(slug);
  return id === undefined || !isPossibleId(id) ? undefined : (await directory.journeys.getMany([id])).get(id);
}

/** Writes every group, the empty ones too, with the rows that come in the order of the groups; nothing is read without `read`. */
async function* writeGroups(
  { directory }: Dependencies,
  visibility: HolonVisibility,
  groups: readonly Group[],
  read: (() => AsyncIterable<PublicRow[]>) | undefined,
  end: string,
): AsyncGenerator<string> {
  let opened = 0;
  let text = '';
  let first = true;
  const openUpTo = (place: number): void => {
    for (; opened < place; opened++) {
      text += `${groups[opened - 1]?.tail ?? ''}${groups[opened]?.head ?? ''}`;
      first = true;
    }
  };
  if (read !== undefined) {
    for await (const rows of read()) {
      for (const { row, text: item } of await renderPublicConversations(directory, visibility, rows, { keep: opened === 0 })) {
        openUpTo(row.place);
        text += first ? item : `,${item}`;
        first = false;
      }
      yield text;
      text = '';
    }
  }
  openUpTo(groups.length);
  yield `${text}${groups[opened - 1]?.tail ?? ''}${end}`;
}
