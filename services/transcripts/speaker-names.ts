/**
 * Returns the display names of speakers (D24a): the current name of a person; for unresolved speakers the provider's
 * name or a number.
 */
import { type Bus, type CallContext, withoutActor } from '#libs/infrastructure/nats';
import { type Queryable, sql, statement, t } from '#libs/infrastructure/sql';
import { directory } from '#services/directory';
import { attributedId } from './speaker.ts';

const peoplePerCall = 500;

/**
 * Reads the names of the speakers in these conversations. Returns a function that resolves every id to which their rows
 * are attributed.
 */
export async function readSpeakerNames(
  { bus, db }: { readonly bus: Bus; readonly db: Queryable },
  conversationIds: readonly number[],
  context: CallContext,
): Promise<(conversationId: number, speakerId: number) => string> {
  const speakers = await listSpeakers(db, { conversationIds });
  const visible = new Map<string, string>();
  for (const speaker of speakers) {
    const key = `${speaker.conversationId}/${attributedId(speaker)}`;
    if (speaker.displayName !== null && !visible.has(key)) visible.set(key, speaker.displayName);
  }
  const present = await readPeople(bus, [...new Set(speakers.flatMap((speaker) => speaker.personId ?? []))], context);
  return (conversationId, speakerId) =>
    present.get(speakerId) ?? visible.get(`${conversationId}/${speakerId}`) ?? nameByNumber(speakerId);
}

async function readPeople(bus: Bus, ids: readonly number[], context: CallContext): Promise<Map<number, string>> {
  const names = new Map<number, string>();
  for (let index = 0; index < ids.length; index += peoplePerCall) {
    const { items } = await bus.call(
      directory.rpcs.getPeople,
      { ids: ids.slice(index, index + peoplePerCall) },
      withoutActor(context),
    );
    for (const person of items) names.set(person.id, person.name);
  }
  return names;
}

const nameByNumber = (speakerId: number): string =>
  speakerId < 0 ? `Unresolved speaker ${-speakerId}` : `Person ${speakerId}`;

export const listSpeakers = statement.many({
  name: 'speakers.list',
  params: { conversationIds: t.integer.array },
  row: {
    conversationId: t.integer,
    key: t.text,
    number: t.integer.nullable,
    personId: t.integer.nullable,
    displayName: t.text.nullable,
    erased: t.boolean,
  },
  sql: ({ conversationIds }) => sql`
    select conversation_id as "conversationId", speaker_key as key, number, person_id as "personId", display_name as "displayName", erased
    from speakers where conversation_id = any(${conversationIds})`,
});
