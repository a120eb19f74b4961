/** SQL of kept answers, the same in the schema of every service. */
import { sql, statement, t } from '#libs/sql';

const place = { accountId: t.integer, operation: t.text, key: t.text };

/** True for one transaction at a time; nobody waits for it. */
export const takeTurn = statement.one({
  name: 'kept-answers.take-turn',
  params: place,
  row: { taken: t.boolean },
  sql: ({ accountId, operation, key }) => sql`
    select pg_try_advisory_xact_lock(hashtextextended(json_build_array('kept-answer', ${accountId}, ${operation}, ${key})::text, 0)) as taken`,
});

export const findAnswer = statement.maybeOne({
  name: 'kept-answers.find',
  params: place,
  row: { fingerprint: t.bytes, refused: t.boolean, outcome: t.text.nullable, etag: t.text.nullable, body: t.text },
  sql: ({ accountId, operation, key }) => sql`
    select fingerprint, refused, outcome, etag, body from kept_answers
    where account_id = ${accountId} and operation = ${operation} and key = ${key} and expires_at > statement_timestamp()`,
});

/** For the holder of the turn, who has found none. An expired one gives way. */
export const insertAnswer = statement.none({
  name: 'kept-answers.insert',
  params: {
    ...place,
    fingerprint: t.bytes,
    refused: t.boolean,
    outcome: t.text.nullable,
    etag: t.text.nullable,
    body: t.text,
    personIds: t.integer.array,
    hours: t.integer,
  },
  sql: ({ accountId, operation, key, fingerprint, refused, outcome, etag, body, personIds, hours }) => sql`
    insert into kept_answers (account_id, operation, key, fingerprint, refused, outcome, etag, body, size, person_ids, expires_at)
    values (${accountId}, ${operation}, ${key}, ${fingerprint}, ${refused}, ${outcome}, ${etag}, ${body}, octet_length(${body}), ${personIds},
      clock_timestamp() + make_interval(hours => ${hours}))
    on conflict (account_id, operation, key) do update
    set fingerprint = excluded.fingerprint, refused = excluded.refused, outcome = excluded.outcome, etag = excluded.etag, body = excluded.body,
      size = excluded.size, person_ids = excluded.person_ids, expires_at = excluded.expires_at`,
});

export const dropExpired = statement.none({
  name: 'kept-answers.drop-expired',
  params: { limit: t.integer },
  sql: ({ limit }) => sql`
    delete from kept_answers where ctid = any(array(
      select ctid from kept_answers where expires_at <= statement_timestamp() limit ${limit} for update skip locked))`,
});

/** Of accounts whose answers take more than they may, with what a row takes besides, the oldest go. */
export const dropExcess = statement.none({
  name: 'kept-answers.drop-excess',
  params: { maxBytes: t.bigint, rowBytes: t.integer },
  sql: ({ maxBytes, rowBytes }) => sql`
    with greedy as materialized (
      select account_id from kept_answers group by account_id having sum(size + ${rowBytes}) > ${maxBytes}
    )
    delete from kept_answers where ctid = any(array(
      select place from greedy cross join lateral (
        select ctid as place, sum(size + ${rowBytes}) over (order by expires_at desc, ctid) as taken
        from kept_answers k where k.account_id = greedy.account_id) as ranked
      where taken > ${maxBytes}))`,
});

/** What names the person, and what was answered to their accounts. */
export const dropAnswersOf = statement.none({
  name: 'kept-answers.drop-of-person',
  params: { personId: t.integer, accountIds: t.integer.array },
  sql: ({ personId, accountIds }) => sql`delete from kept_answers where ${personId} = any(person_ids) or account_id = any(${accountIds})`,
});
