/** Reads of journeys for other services; JSON is made by SQL. */
import { statement } from '#libs/orm';

/** `$1` = ids, `$2` = slugs; one row with the reply of `journeys.get-many`. */
export const getJourneys = statement(
  'journeys.get-many',
  `select json_build_object('items', coalesce(json_agg(json_build_object('id', j.id, 'slug', j.slug, 'name', j.name,
     'description', j.description, 'texts', j.texts, 'is_conversation', j.is_conversation,
     'questions', coalesce((
       select json_agg(json_build_object('id', q.id, 'text', q.text, 'order', q.place) order by q.place)
       from (select id, text, row_number() over (order by position, id) - 1 as place
             from directory.journey_questions where journey_id = j.id and not is_retired) as q), '[]'),
     'steps', coalesce((
       select json_agg(json_build_object('id', s.id, 'slug', s.slug, 'title', s.title, 'order', s.position, 'is_archived', s.is_archived,
         'pipeline_job', s.pipeline_job) order by s.position, s.id)
       from directory.journey_steps s where s.journey_id = j.id), '[]'),
     'owner_event_ids', coalesce((
       select json_agg(h.id order by h.id)
       from directory.holon_journeys a join directory.holons h on h.id = a.holon_id
       join directory.object_classes c on c.id = h.class_id and c.conversation_event
       where a.journey_id = j.id), '[]')
     ) order by j.id), '[]'))::text as body
   from (select id from directory.journeys where id = any($1::integer[])
         union select id from directory.journeys where slug = any($2::text[])) as wanted
   join directory.journeys j on j.id = wanted.id`,
);
