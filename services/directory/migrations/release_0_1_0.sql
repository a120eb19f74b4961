create extension if not exists pg_trgm with schema public;

create function directory.fold(input text) returns text language sql immutable strict parallel safe
  return lower(regexp_replace(normalize(input, NFKD), '[\u0300-\u036f]+', '', 'g') collate "und-x-icu");

create function directory.channel_text(channels jsonb) returns text language sql immutable strict parallel safe
  return (select coalesce(string_agg(entry.value, E'\n' order by entry.key), '') from jsonb_each_text(channels) as entry);

create function directory.merge_patch(target jsonb, patch jsonb) returns jsonb
  language plpgsql immutable parallel safe as $$
  declare
    entry record;
    result jsonb := case when jsonb_typeof(target) = 'object' then target else '{}'::jsonb end;
  begin
    if patch is null or jsonb_typeof(patch) <> 'object' then return patch; end if;
    for entry in select key, value from jsonb_each(patch) loop
      if jsonb_typeof(entry.value) = 'null' then result := result - entry.key;
      elsif jsonb_typeof(entry.value) = 'object' then
        result := result || jsonb_build_object(entry.key, directory.merge_patch(result -> entry.key, entry.value));
      else result := result || jsonb_build_object(entry.key, entry.value);
      end if;
    end loop;
    return result;
  end $$;

create function directory.memberships__set_class() returns trigger language plpgsql as $$
  begin select class_id into new.holon_class_id from directory.holons
    where id = new.holon_id for share; return new; end $$;

create function directory.relationships__set_class() returns trigger language plpgsql as $$
  begin select class_id into new.from_class_id from directory.holons
    where id = new.from_holon_id for share; select class_id into new.to_class_id from directory.holons where id = new.to_holon_id for share; return new; end $$;

create function directory.holons__move_class() returns trigger language plpgsql as $$
  begin
    update directory.memberships set holon_class_id = new.class_id where holon_id = new.id;
    update directory.relationships set from_class_id = new.class_id where from_holon_id = new.id;
    update directory.relationships set to_class_id = new.class_id where to_holon_id = new.id;
    return null;
  end $$;

create function directory.memberships__tally() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then insert into directory.membership_tallies (holon_class_id, whole, follow_up_after, amount)
  select holon_class_id, whole, case when not whole then follow_up_after end, sum(amount)
  from (select holon_class_id, follow_up_after, 1 as amount from added) as changed cross join (values (true), (false)) as grain(whole)
  group by holon_class_id, whole, case when not whole then follow_up_after end having sum(amount) <> 0;
    elsif tg_op = 'DELETE' then insert into directory.membership_tallies (holon_class_id, whole, follow_up_after, amount)
  select holon_class_id, whole, case when not whole then follow_up_after end, sum(amount)
  from (select holon_class_id, follow_up_after, -1 as amount from removed) as changed cross join (values (true), (false)) as grain(whole)
  group by holon_class_id, whole, case when not whole then follow_up_after end having sum(amount) <> 0;
    elsif tg_op = 'TRUNCATE' then delete from directory.membership_tallies;
    else insert into directory.membership_tallies (holon_class_id, whole, follow_up_after, amount)
  select holon_class_id, whole, case when not whole then follow_up_after end, sum(amount)
  from (select holon_class_id, follow_up_after, 1 as amount from added
    union all select holon_class_id, follow_up_after, -1 as amount from removed) as changed cross join (values (true), (false)) as grain(whole)
  group by holon_class_id, whole, case when not whole then follow_up_after end having sum(amount) <> 0;
    end if;
    return null;
  end $$;

create function directory.relationships__tally() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then insert into directory.relationship_tallies (from_class_id, to_class_id, whole, follow_up_after, amount)
  select from_class_id, to_class_id, whole, case when not whole then follow_up_after end, sum(amount)
  from (select from_class_id, to_class_id, follow_up_after, 1 as amount from added) as changed cross join (values (true), (false)) as grain(whole)
  group by from_class_id, to_class_id, whole, case when not whole then follow_up_after end having sum(amount) <> 0;
    elsif tg_op = 'DELETE' then insert into directory.relationship_tallies (from_class_id, to_class_id, whole, follow_up_after, amount)
  select from_class_id, to_class_id, whole, case when not whole then follow_up_after end, sum(amount)
  from (select from_class_id, to_class_id, follow_up_after, -1 as amount from removed) as changed cross join (values (true), (false)) as grain(whole)
  group by from_class_id, to_class_id, whole, case when not whole then follow_up_after end having sum(amount) <> 0;
    elsif tg_op = 'TRUNCATE' then delete from directory.relationship_tallies;
    else insert into directory.relationship_tallies (from_class_id, to_class_id, whole, follow_up_after, amount)
  select from_class_id, to_class_id, whole, case when not whole then follow_up_after end, sum(amount)
  from (select from_class_id, to_class_id, follow_up_after, 1 as amount from added
    union all select from_class_id, to_class_id, follow_up_after, -1 as amount from removed) as changed cross join (values (true), (false)) as grain(whole)
  group by from_class_id, to_class_id, whole, case when not whole then follow_up_after end having sum(amount) <> 0;
    end if;
    return null;
  end $$;

create function directory.linkedin_key(input text) returns text language sql immutable strict parallel safe
  return left(regexp_replace(regexp_replace(regexp_replace(lower(btrim(input)),
    '^([a-z][a-z0-9+.-]*:)?//', ''), '^www\.', ''), '/*([?#].*)?$', ''), 500);

create function directory.memberships__count_usage() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then insert into directory.usage_counts (what, id, amount)
  select what, id, sum(amount) from (select 'journey_memberships' as what, journey_id as id, 1 as amount from added
    union all select 'step_memberships' as what, step_id as id, 1 as amount from added) as changed where id is not null group by what, id having sum(amount) <> 0;
    elsif tg_op = 'DELETE' then insert into directory.usage_counts (what, id, amount)
  select what, id, sum(amount) from (select 'journey_memberships' as what, journey_id as id, -1 as amount from removed
    union all select 'step_memberships' as what, step_id as id, -1 as amount from removed) as changed where id is not null group by what, id having sum(amount) <> 0;
    elsif tg_op = 'TRUNCATE' then delete from directory.usage_counts where what in ('journey_memberships', 'step_memberships');
    else insert into directory.usage_counts (what, id, amount)
  select what, id, sum(amount) from (select 'journey_memberships' as what, journey_id as id, 1 as amount from added
    union all select 'step_memberships' as what, step_id as id, 1 as amount from added
    union all select 'journey_memberships' as what, journey_id as id, -1 as amount from removed
    union all select 'step_memberships' as what, step_id as id, -1 as amount from removed) as changed where id is not null group by what, id having sum(amount) <> 0;
    end if;
    return null;
  end $$;

create function directory.relationships__count_usage() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then insert into directory.usage_counts (what, id, amount)
  select what, id, sum(amount) from (select 'journey_relationships' as what, journey_id as id, 1 as amount from added
    union all select 'step_relationships' as what, step_id as id, 1 as amount from added) as changed where id is not null group by what, id having sum(amount) <> 0;
    elsif tg_op = 'DELETE' then insert into directory.usage_counts (what, id, amount)
  select what, id, sum(amount) from (select 'journey_relationships' as what, journey_id as id, -1 as amount from removed
    union all select 'step_relationships' as what, step_id as id, -1 as amount from removed) as changed where id is not null group by what, id having sum(amount) <> 0;
    elsif tg_op = 'TRUNCATE' then delete from directory.usage_counts where what in ('journey_relationships', 'step_relationships');
    else insert into directory.usage_counts (what, id, amount)
  select what, id, sum(amount) from (select 'journey_relationships' as what, journey_id as id, 1 as amount from added
    union all select 'step_relationships' as what, step_id as id, 1 as amount from added
    union all select 'journey_relationships' as what, journey_id as id, -1 as amount from removed
    union all select 'step_relationships' as what, step_id as id, -1 as amount from removed) as changed where id is not null group by what, id having sum(amount) <> 0;
    end if;
    return null;
  end $$;

create function directory.holon_journeys__count_usage() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then insert into directory.usage_counts (what, id, amount)
  select what, id, sum(amount) from (select 'journey_holons' as what, journey_id as id, 1 as amount from added) as changed where id is not null group by what, id having sum(amount) <> 0;
    elsif tg_op = 'DELETE' then insert into directory.usage_counts (what, id, amount)
  select what, id, sum(amount) from (select 'journey_holons' as what, journey_id as id, -1 as amount from removed) as changed where id is not null group by what, id having sum(amount) <> 0;
    elsif tg_op = 'TRUNCATE' then delete from directory.usage_counts where what in ('journey_holons');
    else insert into directory.usage_counts (what, id, amount)
  select what, id, sum(amount) from (select 'journey_holons' as what, journey_id as id, 1 as amount from added
    union all select 'journey_holons' as what, journey_id as id, -1 as amount from removed) as changed where id is not null group by what, id having sum(amount) <> 0;
    end if;
    return null;
  end $$;

create function directory.holons__count_usage() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then insert into directory.usage_counts (what, id, amount)
  select what, id, sum(amount) from (select 'class_holons' as what, class_id as id, 1 as amount from added) as changed
    where id is not null group by what, id having sum(amount) <> 0;
    elsif tg_op = 'DELETE' then insert into directory.usage_counts (what, id, amount)
  select what, id, sum(amount) from (select 'class_holons' as what, class_id as id, -1 as amount from removed) as changed where id is not null group by what, id having sum(amount) <> 0;
    elsif tg_op = 'TRUNCATE' then delete from directory.usage_counts where what in ('class_holons');
    else insert into directory.usage_counts (what, id, amount)
  select what, id, sum(amount) from (select 'class_holons' as what, class_id as id, 1 as amount from added
    union all select 'class_holons' as what, class_id as id, -1 as amount from removed) as changed where id is not null group by what, id having sum(amount) <> 0;
    end if;
    return null;
  end $$;

create function directory.like_literal(input text) returns text language sql immutable strict parallel safe
  return replace(replace(replace(input, '\', '\\'), '%', '\%'), '_', '\_');

create function directory.words(input text) returns text language sql immutable strict parallel safe
  return regexp_replace(input collate "und-x-icu", '[^[:alnum:]]+', ' ', 'g');

create function directory.short_grams(input text) returns text[]
  language plpgsql immutable strict parallel safe cost 5000 as $$
  declare
    characters text[] := string_to_array(input, null);
  begin
    return characters || array(
      select pair.first || pair.second from unnest(characters, characters[2:]) as pair(first, second) where pair.second is not null);
  end $$;

create function directory.people_channel_values__keep() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then
      insert into directory.people_channel_values (owner_id, value, search_name)
  select distinct r.id, directory.fold_start(channel.value, 500), directory.fold_start(r.name, 150)
  from added as r, jsonb_each_text(r.contact) as channel where channel.value <> '';
    else
      delete from directory.people_channel_values where owner_id in (select a.id from added a join removed r using (id) where (a.name, a.contact) is distinct from (r.name, r.contact));
      insert into directory.people_channel_values (owner_id, value, search_name)
  select distinct r.id, directory.fold_start(channel.value, 500), directory.fold_start(r.name, 150)
  from (select a.* from added a join removed r using (id)
    where (a.name, a.contact) is distinct from (r.name, r.contact)) as r, jsonb_each_text(r.contact) as channel where channel.value <> '';
    end if;
    return null;
  end $$;

create function directory.holons_channel_values__keep() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then
      insert into directory.holons_channel_values (owner_id, value, search_name)
  select distinct r.id, directory.fold_start(channel.value, 500), directory.fold_start(r.name, 150)
  from added as r, jsonb_each_text(r.links) as channel where channel.value <> '';
    else
      delete from directory.holons_channel_values where owner_id in (select a.id from added a join removed r using (id) where (a.name, a.links) is distinct from (r.name, r.links));
      insert into directory.holons_channel_values (owner_id, value, search_name)
  select distinct r.id, directory.fold_start(channel.value, 500), directory.fold_start(r.name, 150)
  from (select a.* from added a join removed r using (id)
    where (a.name, a.links) is distinct from (r.name, r.links)) as r, jsonb_each_text(r.links) as channel where channel.value <> '';
    end if;
    return null;
  end $$;

create function directory.has_team_authority(asked_holon integer, asked_account integer) returns boolean
  language plpgsql stable parallel safe cost 10000 as $$
  begin
    return exists (
      with recursive upwards as (
        select own.id, own.parent_id from directory.holons own where own.id = asked_holon
        union select above.id, above.parent_id from directory.holons above join upwards on above.id = upwards.parent_id
      )
      select from upwards join directory.team_authority team on team.holon_id = upwards.id
      where team.account_id = asked_account and team.is_active);
  end $$;

create function directory.sought_word(input text) returns text language sql immutable strict parallel safe
  return coalesce((select word from regexp_split_to_table(directory.words(input), ' ') with ordinality as found(word, place)
    where char_length(word) >= 3 order by char_length(word) desc, place limit 1), input);

create function directory.long_grams(input text) returns text[]
  language plpgsql immutable strict parallel safe cost 1000 as $$
  declare
    c text[] := string_to_array(input, null);
    grams text[] := '{}';
  begin
    for place in 1 .. cardinality(c) - 4 loop
      grams := grams || (c[place] || c[place + 1] || c[place + 2] || c[place + 3] || c[place + 4]);
    end loop;
    return grams;
  end $$;

create function directory.covering_grams(input text) returns text[] language sql immutable strict parallel safe
  return array(select substr(input, place, 5) from generate_series(1, char_length(input) - 4) as place
    where place % 3 = 1 or place = char_length(input) - 4);

create function directory.fold_start(input text, size integer) returns text language sql immutable strict parallel safe
  return (select coalesce(left(lower(regexp_replace(left(string_agg(normalize(substr(start.text, place, 200), NFKD), '' order by place),
      3 * size), '[\u0300-\u036f]+', '', 'g') collate "und-x-icu"), size), '')
    from (select left(input, size) as text offset 0) as start, generate_series(1, char_length(start.text), 200) as place);

create table directory.people (
  id integer generated by default as identity,
  key text,
  origin_key text,
  name text not null,
  description text not null default '',
  photo_url text,
  actor_kind text not null default 'human',
  contact jsonb not null default '{}',
  infos jsonb not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  search_name text collate "C" generated always as (directory.fold_start(name, 600)) stored,
  search_text text collate "und-x-icu"
    generated always as (((directory.fold_start(name, 600) || E'\n') || directory.fold_start(directory.channel_text(contact), 4000))) stored,
  search_words text collate "und-x-icu"
    generated always as (directory.words((((' ' || directory.fold_start(name, 600)) || E'\n') || directory.fold_start(directory.channel_text(contact), 4000)))) stored,
  search_description text collate "und-x-icu" generated always as (directory.fold_start(description, 10000)) stored,
  constraint people__id__primary primary key (id),
  constraint people__key__unique unique (key),
  constraint people__origin_key__unique unique (origin_key),
  constraint people__contact__object check (jsonb_typeof(contact) = 'object'),
  constraint people__infos__object check (jsonb_typeof(infos) = 'object')
);
alter table directory.people alter column search_name set statistics 200;
alter table directory.people alter column search_words set statistics 200;
alter table directory.people alter column search_description set statistics 200;
create index people__contact_email__index on directory.people (lower(btrim((contact ->> 'email'))));
create index people__name__order on directory.people (name, id);
create index people__created_at__order on directory.people (created_at desc, id desc);
create index people__updated_at__order on directory.people (updated_at desc, id desc);
create index people__contact_linkedin__index on directory.people (directory.linkedin_key((contact ->> 'linkedin')))
    where (contact ->> 'linkedin') is not null;
create index people__search_name__order on directory.people (search_name, id);
create index people__search_name__trgm on directory.people using gin (search_name public.gin_trgm_ops);
create index people__search_words__trgm on directory.people using gin (search_words public.gin_trgm_ops);
create index people__search_description__trgm on directory.people using gin (search_description public.gin_trgm_ops);
create index people__search__grams on directory.people
    using gin (directory.short_grams((((search_text || E'\n') || search_description) collate "C")));
create index people__search__long_grams on directory.people
    using gin (directory.long_grams((((search_text || E'\n') || search_description) collate "C")));
create index people__listed__long_grams on directory.people using gin (directory.long_grams(search_name));

create table directory.accounts (
  id integer generated by default as identity,
  email text not null,
  person_id integer,
  password_hash text,
  is_active boolean not null default true,
  superuser boolean not null default false,
  global_editor boolean not null default false,
  groups text[] not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint accounts__id__primary primary key (id),
  constraint accounts__person_id__foreign foreign key (person_id) references directory.people(id) on delete set null
);
create unique index accounts__email__unique on directory.accounts (lower(email));
create index accounts__person_id__index on directory.accounts (person_id);

create table directory.login_sessions (
  session_key text,
  account_id integer not null,
  secret_sha256 bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  constraint login_sessions__session_key__primary primary key (session_key),
  constraint login_sessions__session_key__shape check (session_key ~ '^[a-z0-9]{32}$'),
  constraint login_sessions__secret_sha256__length check (octet_length(secret_sha256) = 32),
  constraint login_sessions__account_id__foreign foreign key (account_id)
    references directory.accounts(id) on delete cascade
);
create index login_sessions__account_id__index on directory.login_sessions (account_id) where revoked_at is null;
create index login_sessions__expires_at__index on directory.login_sessions (expires_at);

create table directory.login_attempts (
  key text,
  attempted_at timestamptz[] not null,
  updated_at timestamptz not null,
  constraint login_attempts__key__primary primary key (key)
);
create index login_attempts__updated_at__index on directory.login_attempts (updated_at);

create table directory.spheres (
  id integer generated by default as identity,
  key text not null,
  name text not null,
  is_active boolean not null default true,
  constraint spheres__id__primary primary key (id),
  constraint spheres__key__unique unique (key)
);

create table directory.object_classes (
  id integer generated by default as identity,
  slug text not null,
  object_kind text not null default 'holon',
  parent_id integer,
  label text not null,
  plural_label text not null,
  description text not null default '',
  sort_order integer not null default 0,
  is_system boolean not null default false,
  is_active boolean not null default true,
  icon_url text,
  conversation_event boolean not null default false,
  private boolean not null default false,
  name_read_only boolean not null default false,
  config jsonb not null default '{}',
  effective_private boolean not null default false,
  effective_name_read_only boolean not null default false,
  ancestor_ids integer[] not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint object_classes__id__primary primary key (id),
  constraint object_classes__slug__unique unique (slug),
  constraint object_classes__parent_id__not_self check (parent_id <> id),
  constraint object_classes__config__object check (jsonb_typeof(config) = 'object'),
  constraint object_classes__parent_id__foreign foreign key (parent_id)
    references directory.object_classes(id) deferrable
);
create index object_classes__parent_id__index on directory.object_classes (parent_id);

create table directory.class_allowed_children (
  class_id integer not null,
  child_class_id integer not null,
  position integer not null,
  constraint class_allowed_children__class_id_child_class_id__primary primary key (class_id, child_class_id),
  constraint class_allowed_children__class_id__foreign foreign key (class_id)
    references directory.object_classes(id) on delete cascade,
  constraint class_allowed_children__child_class_id__foreign foreign key (child_class_id)
    references directory.object_classes(id) on delete cascade
);

create table directory.journeys (
  id integer generated by default as identity,
  slug text not null,
  name text not null,
  description text not null default '',
  svc_app text not null default '',
  object_kind text not null default 'holon',
  applies_to_class_id integer,
  is_conversation boolean not null default false,
  public_visible boolean not null default false,
  bulk_add boolean not null default false,
  texts jsonb not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  search_text text collate "C" generated always as (((directory.fold(name) || E'\n') || directory.fold(slug))) stored,
  constraint journeys__id__primary primary key (id),
  constraint journeys__slug__unique unique (slug),
  constraint journeys__texts__object check (jsonb_typeof(texts) = 'object'),
  constraint journeys__applies_to_class_id__foreign foreign key (applies_to_class_id)
    references directory.object_classes(id)
);
create index journeys__applies_to_class_id__index on directory.journeys (applies_to_class_id);
create index journeys__name__order on directory.journeys (name, id);
create index journeys__search_text__trgm on directory.journeys using gin (search_text public.gin_trgm_ops);
create index journeys__search_text__grams on directory.journeys using gin (directory.short_grams(search_text));

create table directory.journey_questions (
  id integer generated by default as identity,
  journey_id integer not null,
  text text not null,
  position integer not null,
  is_retired boolean not null default false,
  constraint journey_questions__id__primary primary key (id),
  constraint journey_questions__journey_id__foreign foreign key (journey_id)
    references directory.journeys(id) on delete cascade
);
create index journey_questions__journey_id__index on directory.journey_questions (journey_id, "position");

create table directory.journey_steps (
  id integer generated by default as identity,
  journey_id integer not null,
  slug text not null,
  title text not null,
  goal text not null default '',
  success_criteria text not null default '',
  starter_message text not null default '',
  position integer not null,
  is_archived boolean not null default false,
  pipeline_job text,
  config jsonb not null default '{}',
  updated_at timestamptz not null default clock_timestamp(),
  constraint journey_steps__id__primary primary key (id),
  constraint journey_steps__journey_id_slug__unique unique (journey_id, slug),
  constraint journey_steps__journey_id_id__unique unique (journey_id, id),
  constraint journey_steps__config__object check (jsonb_typeof(config) = 'object'),
  constraint journey_steps__journey_id__foreign foreign key (journey_id)
    references directory.journeys(id) on delete cascade
);
create index journey_steps__journey_id__order on directory.journey_steps (journey_id, "position", id);

create table directory.step_config_audit (
  id integer generated by default as identity,
  step_id integer not null,
  account_id integer,
  source text not null,
  paths text[] not null,
  changed_at timestamptz not null default clock_timestamp(),
  constraint step_config_audit__id__primary primary key (id),
  constraint step_config_audit__source__known check (source in ('api', 'workspace')),
  constraint step_config_audit__step_id__foreign foreign key (step_id)
    references directory.journey_steps(id) on delete cascade,
  constraint step_config_audit__account_id__foreign foreign key (account_id)
    references directory.accounts(id) on delete set null
);
create index step_config_audit__step_id__index on directory.step_config_audit (step_id, id desc);
create index step_config_audit__account_id__index on directory.step_config_audit (account_id);

create table directory.holons (
  id integer generated by default as identity,
  slug text not null,
  name text not null,
  description text not null default '',
  class_id integer not null,
  parent_id integer,
  links jsonb not null default '{}',
  infos jsonb not null default '{}',
  logo_url text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  logo_blob_id integer,
  search_name text collate "C" generated always as (directory.fold_start(name, 600)) stored,
  search_text text collate "und-x-icu"
    generated always as (((directory.fold_start(name, 600) || E'\n') || directory.fold_start(directory.channel_text(links), 4000))) stored,
  search_words text collate "und-x-icu"
    generated always as (directory.words((((' ' || directory.fold_start(name, 600)) || E'\n') || directory.fold_start(directory.channel_text(links), 4000)))) stored,
  search_description text collate "und-x-icu" generated always as (directory.fold_start(description, 10000)) stored,
  constraint holons__id__primary primary key (id),
  constraint holons__slug__unique unique (slug),
  constraint holons__parent_id__not_self check (parent_id <> id),
  constraint holons__links__object check (jsonb_typeof(links) = 'object'),
  constraint holons__infos__object check (jsonb_typeof(infos) = 'object'),
  constraint holons__class_id__foreign foreign key (class_id) references directory.object_classes(id),
  constraint holons__parent_id__foreign foreign key (parent_id) references directory.holons(id) deferrable
);
alter table directory.holons alter column search_name set statistics 200;
alter table directory.holons alter column search_words set statistics 200;
alter table directory.holons alter column search_description set statistics 200;
create index holons__class_id__index on directory.holons (class_id, name, id);
create index holons__parent_id__index on directory.holons (parent_id, name, id);
create index holons__name__order on directory.holons (name, id);
create index holons__created_at__order on directory.holons (created_at desc, id desc);
create index holons__updated_at__order on directory.holons (updated_at desc, id desc);
create index holons__class_id_created_at__order on directory.holons (class_id, created_at desc, id);
create index holons__class_id_updated_at__order on directory.holons (class_id, updated_at desc, id);
create index holons__search_name__order on directory.holons (search_name, id);
create index holons__search_name__trgm on directory.holons using gin (search_name public.gin_trgm_ops);
create index holons__search_words__trgm on directory.holons using gin (search_words public.gin_trgm_ops);
create index holons__search_description__trgm on directory.holons using gin (search_description public.gin_trgm_ops);
create index holons__search__grams on directory.holons
    using gin (directory.short_grams((((search_text || E'\n') || search_description) collate "C")));
create index holons__search__long_grams on directory.holons
    using gin (directory.long_grams((((search_text || E'\n') || search_description) collate "C")));
create index holons__listed__long_grams on directory.holons
    using gin (directory.long_grams(((search_name || E'\n') || (search_description collate "C"))));
comment on column directory.holons.logo_blob_id is 'blob of the media service behind logo_url; rises with each upload';

create table directory.class_journeys (
  class_id integer not null,
  journey_id integer not null,
  position integer not null,
  constraint class_journeys__class_id_journey_id__primary primary key (class_id, journey_id),
  constraint class_journeys__class_id__foreign foreign key (class_id)
    references directory.object_classes(id) on delete cascade,
  constraint class_journeys__journey_id__foreign foreign key (journey_id)
    references directory.journeys(id) on delete cascade
);
create index class_journeys__journey_id__index on directory.class_journeys (journey_id, class_id);

create table directory.holon_journeys (
  holon_id integer not null,
  journey_id integer not null,
  position integer not null,
  constraint holon_journeys__holon_id_journey_id__primary primary key (holon_id, journey_id),
  constraint holon_journeys__holon_id__foreign foreign key (holon_id) references directory.holons(id) on delete cascade,
  constraint holon_journeys__journey_id__foreign foreign key (journey_id)
    references directory.journeys(id) on delete cascade
);
create index holon_journeys__journey_id__index on directory.holon_journeys (journey_id, holon_id);

create table directory.team_authority (
  account_id integer not null,
  holon_id integer not null,
  is_active boolean not null default true,
  constraint team_authority__account_id_holon_id__primary primary key (account_id, holon_id),
  constraint team_authority__account_id__foreign foreign key (account_id)
    references directory.accounts(id) on delete cascade,
  constraint team_authority__holon_id__foreign foreign key (holon_id) references directory.holons(id) on delete cascade
);
create index team_authority__holon_id__index on directory.team_authority (holon_id);

create table directory.memberships (
  id integer generated by default as identity,
  key text,
  person_id integer not null,
  holon_id integer not null,
  journey_id integer,
  step_id integer,
  follow_up_after date,
  responsible_person_id integer,
  holon_class_id integer,
  constraint memberships__id__primary primary key (id),
  constraint memberships__key__unique unique (key),
  constraint memberships__person_id_holon_id_journey_id__unique unique nulls not distinct (person_id, holon_id, journey_id),
  constraint memberships__step_id__needs_journey check (step_id is null or journey_id is not null),
  constraint memberships__journey_id__foreign foreign key (journey_id) references directory.journeys(id),
  constraint memberships__journey_id_step_id__foreign foreign key (journey_id, step_id)
    references directory.journey_steps(journey_id, id),
  constraint memberships__responsible_person_id__foreign foreign key (responsible_person_id)
    references directory.people(id) on delete set null,
  constraint memberships__person_id__foreign foreign key (person_id) references directory.people(id) on delete cascade,
  constraint memberships__holon_id__foreign foreign key (holon_id) references directory.holons(id) on delete cascade
);
create index memberships__holon_id_journey_id__index on directory.memberships (holon_id, journey_id, person_id);
create index memberships__journey_id_step_id__index on directory.memberships (journey_id, step_id);
create index memberships__follow_up_after__order on directory.memberships (follow_up_after, id)
    include (holon_class_id, holon_id);
create index memberships__responsible_person_id__order on directory.memberships (responsible_person_id, follow_up_after, id) include (holon_class_id, holon_id) where responsible_person_id is not null;

create table directory.relationships (
  id integer generated by default as identity,
  key text,
  from_holon_id integer not null,
  to_holon_id integer not null,
  journey_id integer,
  step_id integer,
  follow_up_after date,
  responsible_person_id integer,
  from_class_id integer,
  to_class_id integer,
  constraint relationships__id__primary primary key (id),
  constraint relationships__key__unique unique (key),
  constraint relationships__step_id__needs_journey check (step_id is null or journey_id is not null),
  constraint relationships__journey_id__foreign foreign key (journey_id) references directory.journeys(id),
  constraint relationships__journey_id_step_id__foreign foreign key (journey_id, step_id)
    references directory.journey_steps(journey_id, id),
  constraint relationships__responsible_person_id__foreign foreign key (responsible_person_id)
    references directory.people(id) on delete set null,
  constraint relationships__from_holon_id__foreign foreign key (from_holon_id)
    references directory.holons(id) on delete cascade,
  constraint relationships__to_holon_id__foreign foreign key (to_holon_id)
    references directory.holons(id) on delete cascade
);
create index relationships__from_holon_id__index on directory.relationships (from_holon_id, to_holon_id, journey_id);
create index relationships__to_holon_id__index on directory.relationships (to_holon_id);
create index relationships__journey_id_step_id__index on directory.relationships (journey_id, step_id);
create index relationships__follow_up_after__order on directory.relationships (follow_up_after, id)
    include (from_class_id, to_class_id, from_holon_id, to_holon_id);
create index relationships__responsible_person_id__order on directory.relationships (responsible_person_id, follow_up_after, id) include (from_class_id, to_class_id, from_holon_id, to_holon_id) where responsible_person_id is not null;
create index relationships__from_class_id__order on directory.relationships (from_class_id, follow_up_after, id)
    include (from_class_id, to_class_id, from_holon_id, to_holon_id);
create index relationships__to_class_id__order on directory.relationships (to_class_id, follow_up_after, id)
    include (from_class_id, to_class_id, from_holon_id, to_holon_id);

create table directory.notes (
  id integer generated by default as identity,
  dedupe_key text,
  body text not null,
  note_type text not null default 'note',
  created_at timestamptz not null default clock_timestamp(),
  author_person_id integer,
  membership_id integer,
  relationship_id integer,
  constraint notes__id__primary primary key (id),
  constraint notes__dedupe_key__unique unique (dedupe_key),
  constraint notes__author_person_id__foreign foreign key (author_person_id)
    references directory.people(id) on delete set null,
  constraint notes__membership_id__foreign foreign key (membership_id)
    references directory.memberships(id) on delete set null,
  constraint notes__relationship_id__foreign foreign key (relationship_id)
    references directory.relationships(id) on delete set null
);
create index notes__author_person_id__index on directory.notes (author_person_id) where author_person_id is not null;
create index notes__membership_id__index on directory.notes (membership_id) where membership_id is not null;
create index notes__relationship_id__index on directory.notes (relationship_id) where relationship_id is not null;

create table directory.person_notes (
  person_id integer not null,
  note_id integer not null,
  created_at timestamptz not null,
  constraint person_notes__person_id_note_id__primary primary key (person_id, note_id),
  constraint person_notes__person_id__foreign foreign key (person_id) references directory.people(id) on delete cascade,
  constraint person_notes__note_id__foreign foreign key (note_id) references directory.notes(id) on delete cascade
);
create index person_notes__created_at__order on directory.person_notes (person_id, created_at desc, note_id desc);
create index person_notes__note_id__index on directory.person_notes (note_id);

create table directory.holon_notes (
  holon_id integer not null,
  note_id integer not null,
  created_at timestamptz not null,
  constraint holon_notes__holon_id_note_id__primary primary key (holon_id, note_id),
  constraint holon_notes__holon_id__foreign foreign key (holon_id) references directory.holons(id) on delete cascade,
  constraint holon_notes__note_id__foreign foreign key (note_id) references directory.notes(id) on delete cascade
);
create index holon_notes__created_at__order on directory.holon_notes (holon_id, created_at desc, note_id desc);
create index holon_notes__note_id_holon_id__index on directory.holon_notes (note_id, holon_id);

create table directory.workspace_uploads (
  upload_id text not null,
  part integer not null,
  body text not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint workspace_uploads__upload_id_part__primary primary key (upload_id, part)
);
create index workspace_uploads__created_at__index on directory.workspace_uploads (created_at);

create table directory.membership_tallies (
  holon_class_id integer not null,
  whole boolean not null,
  follow_up_after date,
  amount bigint not null
);
create index membership_tallies__whole__index on directory.membership_tallies (holon_class_id) include (amount)
    where whole;
create index membership_tallies__follow_up_after__index on directory.membership_tallies (follow_up_after)
    include (holon_class_id, amount) where not whole;

create table directory.relationship_tallies (
  from_class_id integer not null,
  to_class_id integer not null,
  whole boolean not null,
  follow_up_after date,
  amount bigint not null
);
create index relationship_tallies__whole__index on directory.relationship_tallies (from_class_id, to_class_id)
    include (amount) where whole;
create index relationship_tallies__follow_up_after__index on directory.relationship_tallies (follow_up_after)
    include (from_class_id, to_class_id, amount) where not whole;

create table directory.usage_counts (
  what text not null,
  id integer not null,
  amount bigint not null
);
create index usage_counts__what_id__index on directory.usage_counts (what, id) include (amount);

create table directory.people_channel_values (
  owner_id integer not null,
  value text collate "C" not null,
  search_name text collate "C" not null,
  constraint people_channel_values__owner_id__foreign foreign key (owner_id)
    references directory.people(id) on delete cascade
);
create index people_channel_values__owner_id__index on directory.people_channel_values (owner_id);
create index people_channel_values__value__index on directory.people_channel_values (value, search_name, owner_id);
create index people_channel_values__start__order on directory.people_channel_values ("left"(value, 2), search_name, owner_id, value);

create table directory.holons_channel_values (
  owner_id integer not null,
  value text collate "C" not null,
  search_name text collate "C" not null,
  constraint holons_channel_values__owner_id__foreign foreign key (owner_id)
    references directory.holons(id) on delete cascade
);
create index holons_channel_values__owner_id__index on directory.holons_channel_values (owner_id);
create index holons_channel_values__value__index on directory.holons_channel_values (value, search_name, owner_id);
create index holons_channel_values__start__order on directory.holons_channel_values ("left"(value, 2), search_name, owner_id, value);

create table directory.erasures (
  id integer generated by default as identity,
  person_id integer not null,
  operator text not null,
  counts jsonb not null,
  erased_at timestamptz not null default clock_timestamp(),
  constraint erasures__id__primary primary key (id)
);
create index erasures__person_id__index on directory.erasures (person_id);
comment on table directory.erasures is 'audit of people erase: no personal data of the erased person';

create function directory.usage_count(text, integer) returns bigint language sql stable parallel safe
  return (select coalesce(sum(amount), 0)::bigint from directory.usage_counts where what = $1 and id = $2);

create trigger people_channel_values__keep_insert after insert on directory.people referencing new table as added
    for each statement execute function directory.people_channel_values__keep();
create trigger people_channel_values__keep_update after update on directory.people
    referencing old table as removed new table as added for each statement execute function directory.people_channel_values__keep();
create trigger holons__move_class after update of class_id on directory.holons
    for each row when ((old.class_id is distinct from new.class_id)) execute function directory.holons__move_class();
create trigger holons__count_usage_insert after insert on directory.holons referencing new table as added
    for each statement execute function directory.holons__count_usage();
create trigger holons__count_usage_update after update on directory.holons
    referencing old table as removed new table as added for each statement execute function directory.holons__count_usage();
create trigger holons__count_usage_delete after delete on directory.holons referencing old table as removed
    for each statement execute function directory.holons__count_usage();
create trigger holons__count_usage_truncate after truncate on directory.holons
    for each statement execute function directory.holons__count_usage();
create trigger holons_channel_values__keep_insert after insert on directory.holons referencing new table as added
    for each statement execute function directory.holons_channel_values__keep();
create trigger holons_channel_values__keep_update after update on directory.holons
    referencing old table as removed new table as added for each statement execute function directory.holons_channel_values__keep();
create trigger holon_journeys__count_usage_insert after insert on directory.holon_journeys
    referencing new table as added for each statement execute function directory.holon_journeys__count_usage();
create trigger holon_journeys__count_usage_update after update on directory.holon_journeys
    referencing old table as removed new table as added for each statement execute function directory.holon_journeys__count_usage();
create trigger holon_journeys__count_usage_delete after delete on directory.holon_journeys
    referencing old table as removed for each statement execute function directory.holon_journeys__count_usage();
create trigger holon_journeys__count_usage_truncate after truncate on directory.holon_journeys
    for each statement execute function directory.holon_journeys__count_usage();
create trigger memberships__set_class before insert or update of holon_id, holon_class_id on directory.memberships
    for each row execute function directory.memberships__set_class();
create trigger memberships__tally_insert after insert on directory.memberships referencing new table as added
    for each statement execute function directory.memberships__tally();
create trigger memberships__tally_update after update on directory.memberships
    referencing old table as removed new table as added for each statement execute function directory.memberships__tally();
create trigger memberships__tally_delete after delete on directory.memberships referencing old table as removed
    for each statement execute function directory.memberships__tally();
create trigger memberships__tally_truncate after truncate on directory.memberships
    for each statement execute function directory.memberships__tally();
create trigger memberships__count_usage_insert after insert on directory.memberships referencing new table as added
    for each statement execute function directory.memberships__count_usage();
create trigger memberships__count_usage_update after update on directory.memberships
    referencing old table as removed new table as added for each statement execute function directory.memberships__count_usage();
create trigger memberships__count_usage_delete after delete on directory.memberships referencing old table as removed
    for each statement execute function directory.memberships__count_usage();
create trigger memberships__count_usage_truncate after truncate on directory.memberships
    for each statement execute function directory.memberships__count_usage();
create trigger relationships__set_class before insert or update of from_holon_id, from_class_id, to_holon_id, to_class_id on directory.relationships
    for each row execute function directory.relationships__set_class();
create trigger relationships__tally_insert after insert on directory.relationships referencing new table as added
    for each statement execute function directory.relationships__tally();
create trigger relationships__tally_update after update on directory.relationships
    referencing old table as removed new table as added for each statement execute function directory.relationships__tally();
create trigger relationships__tally_delete after delete on directory.relationships referencing old table as removed
    for each statement execute function directory.relationships__tally();
create trigger relationships__tally_truncate after truncate on directory.relationships
    for each statement execute function directory.relationships__tally();
create trigger relationships__count_usage_insert after insert on directory.relationships referencing new table as added
    for each statement execute function directory.relationships__count_usage();
create trigger relationships__count_usage_update after update on directory.relationships
    referencing old table as removed new table as added for each statement execute function directory.relationships__count_usage();
create trigger relationships__count_usage_delete after delete on directory.relationships
    referencing old table as removed for each statement execute function directory.relationships__count_usage();
create trigger relationships__count_usage_truncate after truncate on directory.relationships
    for each statement execute function directory.relationships__count_usage();
