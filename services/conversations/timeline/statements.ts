/** Statements of the timeline (W9). */
import { sql, statement, t } from '#libs/infrastructure/sql';

export const addEnteredStep = statement.none({
  name: 'timeline.enter-step',
  params: { conversationId: t.integer, stepId: t.integer },
  sql: ({ conversationId, stepId }) => sql`
    insert into conversations.timeline_entries (conversation_id, kind, step_id) values (${conversationId}, 'step.entered', ${stepId})`,
});

/** Once per conversation. */
export const addOpenedRoom = statement.none({
  name: 'timeline.open-room',
  params: { conversationId: t.integer },
  sql: ({ conversationId }) => sql`
    insert into conversations.timeline_entries (conversation_id, kind) values (${conversationId}, 'room.opened')
    on conflict (conversation_id) where kind = 'room.opened' do nothing`,
});

/** Returns the moments of a conversation, at most the newest `limit` of each kind of source. */
export const listMoments = statement.many({
  name: 'timeline.list',
  planned: 'each-call',
  params: { id: t.integer, refused: t.text.array, limit: t.integer },
  row: {
    at: t.text,
    source: t.text.as<'created' | 'audit' | 'entry' | 'receipt' | 'question' | 'note'>(),
    /** Action, kind, outcome or type of note. */
    name: t.text,
    ref: t.bigint.nullable,
    actor_kind: t.text.nullable,
    account_id: t.integer.nullable,
    person_id: t.integer.nullable,
    changes: t.text.nullable,
  },
  sql: ({ id, refused, limit }) => sql`
    select iso_utc(created_at) as at, 'created' as source, '' as name, null::bigint as ref, null as actor_kind, null::integer as account_id,
      null::integer as person_id, null as changes
    from conversations.conversations where id = ${id}
    union all (
      select iso_utc(at), 'audit', action, null, actor_kind, account_id, null, changes::text
      from conversations.audit_log where target_type = 'conversation' and target_id = ${id}::text
        and action in ('conversation.update', 'conversation.move', 'conversation.connect', 'conversation.disconnect',
          'conversation.delete', 'conversation.restore')
      order by audit_log.at desc limit ${limit})
    union all (
      select iso_utc(at), 'entry', kind, step_id, null, null, null, null
      from conversations.timeline_entries where conversation_id = ${id} order by timeline_entries.id desc limit ${limit})
    union all (
      select iso_utc(coalesce(processed_at, received_at)), 'receipt', outcome, id, null, null, null, trigger_event
      from conversations.webhook_receipts where conversation_id = ${id} and source = 'booking'
        and (outcome = 'applied' or outcome = any(${refused})) order by webhook_receipts.id desc limit ${limit})
    union all (
      select iso_utc(occurred_at), 'question', '', question_id, null, null, null, null
      from conversations.question_changes where conversation_id = ${id} order by question_changes.id desc limit ${limit})
    union all (
      select iso_utc(created_at), 'note', note_type, id, null, null, author_person_id, null
      from conversations.notes where conversation_id = ${id} and note_type not in ('audio', 'booking', 'booking_error', 'step_change')
      order by notes.created_at desc, notes.id desc limit ${limit})`,
});
