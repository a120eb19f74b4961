/** Statements that delete a holon (W2, W14). */
import { sql, statement, t } from '#libs/infrastructure/sql';

/** Returns how many objects depend on a holon. */
export const countUses = statement.one({
  name: 'holons.count-uses',
  params: { id: t.integer },
  row: { children: t.integer, memberships: t.integer, relationships: t.integer },
  sql: ({ id }) => sql`
    select (select count(*) from directory.holons h where h.parent_id = ${id})::integer as children,
      (select count(*) from directory.memberships m where m.holon_id = ${id})::integer as memberships,
      (select count(*) from directory.relationships r where r.from_holon_id = ${id} or r.to_holon_id = ${id})::integer as relationships`,
});

/** Returns the accounts with team authority on a holon, active or not. */
export const listTeamAccounts = statement.many({
  name: 'holons.list-team-accounts',
  params: { id: t.integer },
  row: { account_id: t.integer },
  sql: ({ id }) => sql`select account_id from directory.team_authority where holon_id = ${id} order by account_id`,
});

/**
 * Deletes the notes that are about this holon alone. Of a private holon it deletes all notes, since those in other feeds
 * would become visible.
 */
export const deleteNotes = statement.none({
  name: 'holons.delete-notes',
  params: { id: t.integer },
  sql: ({ id }) => sql`
    delete from directory.notes n using directory.holon_notes own where own.holon_id = ${id} and n.id = own.note_id
      and (exists (select from directory.holons h join directory.object_classes c on c.id = h.class_id where h.id = ${id} and c.effective_private)
        or not exists (select from directory.person_notes other where other.note_id = n.id)
          and not exists (select from directory.holon_notes other where other.note_id = n.id and other.holon_id <> ${id}))`,
});

/** Deletes a holon with its journeys and team authority. */
export const deleteHolon = statement.none({
  name: 'holons.delete',
  params: { id: t.integer },
  sql: ({ id }) => sql`delete from directory.holons where id = ${id}`,
});
