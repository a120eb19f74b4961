/**
 * Keeps references between services valid, which a foreign key cannot do across schemas: the writer of a reference holds
 * the object with a shared lock of the database while it checks and stores the reference; the service that deletes the
 * object locks it before it asks for references (W14).
 */
import { sql, statement, t } from '#libs/infrastructure/sql';

/** Key of an object, e.g. `holon/7`. */
export type ReferenceKey = `${'holon' | 'journey'}/${number}`;

/** Holds objects until the transaction ends. `held` is false when one of them is being deleted; call it again later. */
export const tryHoldObjects = statement.one({
  name: 'references.hold',
  params: { keys: t.text.array },
  row: { held: t.boolean },
  sql: ({ keys }) => sql`
    select coalesce(bool_and(pg_try_advisory_xact_lock_shared(hashtextextended(key, 0))), true) as held
    from unnest(${keys}) as key`,
});

/** Keeps new references to an object out until the transaction ends, and waits for those that are being stored. */
export const lockObject = statement.none({
  name: 'references.lock',
  params: { key: t.text.as<ReferenceKey>() },
  sql: ({ key }) => sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`,
});
