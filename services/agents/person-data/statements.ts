/** Messages of one person with all agents. */
import { statement } from '#libs/orm';

/** `$1` = visitors, `$2` = Telegram users as text, `$3` = after this message, `$4` = at most so many. */
export const listMessagesOf = statement(
  'person-data.messages',
  `with own as (
     select t.id from agents.threads t where t.visitor_id = any($1::text[])
     union select t.id from agents.threads t join agents.agents a on a.id = t.agent_id
       join unnest($2::text[]) as given(telegram) on t.thread_key = 'telegram:chat:' || given.telegram || ':agent:' || a.id
   ), asked as (
     select m.thread_id, m.turn from agents.messages m
     where m.sender = any(select 'telegram:user:' || given.telegram from unnest($2::text[]) as given(telegram))
   )
   select m.id, json_build_object('agent', a.slug, 'thread_key', t.thread_key, 'note_type', m.note_type, 'body', m.body,
     'created_at', agents.iso_utc(m.created_at))::text as item
   from agents.messages m join agents.threads t on t.id = m.thread_id join agents.agents a on a.id = t.agent_id
   where m.id > $3::bigint and (m.thread_id in (select id from own) or (m.thread_id, m.turn) in (select thread_id, turn from asked))
   order by m.id limit $4::integer`,
);
