/** Statements on erasures in progress (W20). */
import { sql, statement, t } from '#libs/infrastructure/sql';

/** Days for which finished erasures are stored. */
const retentionDays = 30;

/** Locks the unfinished erasure of a person. */
export const lockUnfinished = statement.maybeOne({
  name: 'erasures.lock-unfinished',
  params: { personId: t.integer },
  row: { services: t.text, identity: t.text },
  sql: ({ personId }) =>
    sql`select services::text, identity::text from directory.person_erasures where person_id = ${personId} and state <> 'done' for update`,
});

/** Starts an erasure, or sets the unfinished one of the person to `running`. */
export const startErasure = statement.one({
  name: 'erasures.start',
  params: { personId: t.integer, identity: t.json, requester: t.json, operator: t.text, services: t.json },
  row: { id: t.bigint },
  sql: ({ personId, identity, requester, operator, services }) => sql`
    insert into directory.person_erasures (person_id, identity, requester, operator, services)
    values (${personId}, ${identity}, ${requester}, ${operator}, ${services})
    on conflict (person_id) where state <> 'done' do update
    set state = 'running', finished_at = null, services = excluded.services, identity = excluded.identity,
      round = person_erasures.round + 1
    returning id`,
});

/** Returns an unfinished erasure and sets its state to `running`, e.g. after an operator queued its job again. */
export const continueErasure = statement.maybeOne({
  name: 'erasures.continue',
  params: { id: t.bigint },
  row: {
    person_id: t.integer,
    services: t.text,
    identity: t.text,
    requester: t.text,
    operator: t.text,
    round: t.integer,
  },
  sql: ({ id }) => sql`
    update directory.person_erasures set state = 'running', finished_at = null where id = ${id} and state <> 'done'
    returning person_id, services::text, identity::text, requester::text, operator, round`,
});

/**
 * Stores the state of one service, and adds to its counts. A failure is stored only if no other attempt completed the
 * service and the erasure was not requested again meanwhile (`round`).
 */
export const saveService = statement.none({
  name: 'erasures.save-service',
  params: { id: t.bigint, service: t.text, state: t.text, error: t.text.nullable, counts: t.json, round: t.integer },
  sql: ({ id, service, state, error, counts, round }) => sql`
    update directory.person_erasures e set services = (
      select jsonb_agg(case when s ->> 'service' = ${service} and (${state} = 'done' or s ->> 'state' <> 'done') then jsonb_build_object('service', ${service}::text, 'state', ${state}::text,
          'error', ${error}::text, 'counts', (select coalesce(jsonb_object_agg(key, total), '{}') from (
            select key, sum(value::integer) as total from (select * from jsonb_each_text(s -> 'counts') union all select * from jsonb_each_text(${counts})) as both_counts
            group by key) as sums)) else s end order by n)
      from jsonb_array_elements(e.services) with ordinality as given(s, n))
    where id = ${id} and (${state} = 'done' or round = ${round})`,
});

/** Ends an erasure. When it is done, nothing that identifies the person remains. */
export const endErasure = statement.none({
  name: 'erasures.end',
  params: { id: t.bigint, state: t.text },
  sql: ({ id, state }) => sql`
    update directory.person_erasures
    set state = ${state}, finished_at = clock_timestamp(), identity = case when ${state} = 'done' then null else identity end
    where id = ${id} and state <> 'done'`,
});

const itemSql = sql`json_build_object('id', id, 'state', state, 'services', services,
  'started_at', directory.iso_utc(started_at), 'finished_at', directory.iso_utc(finished_at))::text as item`;

export const getErasure = statement.maybeOne({
  name: 'erasures.get',
  params: { id: t.bigint },
  row: { item: t.text },
  sql: ({ id }) => sql`select ${itemSql} from directory.person_erasures where id = ${id}`,
});

/** Returns a person's latest erasure that is stored. */
export const findLatestErasure = statement.maybeOne({
  name: 'erasures.find-latest',
  params: { personId: t.integer },
  row: { item: t.text },
  sql: ({ personId }) => sql`
    select ${itemSql} from directory.person_erasures
    where person_id = ${personId} and (finished_at is null or finished_at > statement_timestamp() - make_interval(days => ${retentionDays}))
    order by id desc limit 1`,
});

export const removeOldErasures = statement.none({
  name: 'erasures.remove-old',
  sql: () =>
    sql`delete from directory.person_erasures where finished_at < statement_timestamp() - make_interval(days => ${retentionDays})`,
});
