/** Reads of holons for other services; JSON is made by SQL. */
import { statement } from '#libs/orm';

/** `$1` = ids, `$2` = slugs; one row with the reply of `holons.get-many`. */
export const getHolons = statement(
  'holons.get-many',
  `select json_build_object('items', coalesce(json_agg(json_build_object('id', h.id, 'slug', h.slug, 'name', h.name, 'type', c.slug,
     'description', h.description, 'parent_id', h.parent_id, 'private', c.effective_private, 'conversation_event', c.conversation_event)
     order by h.id), '[]'))::text as body
   from (select id from directory.holons where id = any($1::integer[])
         union select id from directory.holons where slug = any($2::text[])) as wanted
   join directory.holons h on h.id = wanted.id join directory.object_classes c on c.id = h.class_id`,
);
