create table agents.agents (
  id integer generated always as identity,
  slug text not null,
  name text not null,
  prompt text not null default '',
  infos jsonb not null default '{}',
  config jsonb not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint agents_pkey primary key (id),
  constraint agents__slug__key unique (slug),
  constraint agents__infos__check check (jsonb_typeof(infos) = 'object'),
  constraint agents__config__check check (jsonb_typeof(config) = 'object')
);
comment on column agents.agents.config is 'messaging secrets and settings; never served';

create table agents.threads (
  id bigint generated always as identity,
  agent_id integer not null,
  thread_key text not null,
  channel text not null,
  visitor_id text,
  turn_count integer not null default 0,
  last_ticket bigint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint threads_pkey primary key (id),
  constraint threads__thread_key__key unique (thread_key),
  constraint threads__agent_id__visitor_id__key unique (agent_id, visitor_id),
  constraint threads__channel__check check (channel in ('web', 'telegram')),
  constraint threads__visitor_id__check check ((channel = 'web') = (visitor_id is not null)),
  constraint threads_agent_id_fkey foreign key (agent_id) references agents.agents(id) on delete cascade
);
comment on column agents.threads.visitor_id is 'unguessable; whoever knows it may go on with the thread (D33a)';

create table agents.messages (
  id bigint generated always as identity,
  thread_id bigint not null,
  turn integer not null,
  note_type text not null,
  body text not null,
  html text not null,
  created_at timestamptz not null,
  turn_key text,
  sender text,
  constraint messages_pkey primary key (id),
  constraint messages__thread_id__turn__note_type__key unique (thread_id, turn, note_type),
  constraint messages__note_type__check check (note_type in ('chat_visitor', 'chat_agent')),
  constraint messages_thread_id_fkey foreign key (thread_id) references agents.threads(id) on delete cascade
);
create unique index messages__turn_key__key on agents.messages (turn_key) where turn_key is not null;
create index messages__sender__index on agents.messages (sender) where sender is not null;
comment on table agents.messages is 'a turn is one chat_visitor and one chat_agent message, written together';
comment on column agents.messages.turn_key is 'what the turn answers, of one agent: asked again, it is the same turn';
comment on column agents.messages.sender is 'who wrote it, where a thread has several writers: telegram:user:<id>';

create table agents.turn_tickets (
  thread_id bigint not null,
  ticket bigint not null,
  lease_until timestamptz not null,
  constraint turn_tickets_pkey primary key (thread_id, ticket),
  constraint turn_tickets_thread_id_fkey foreign key (thread_id) references agents.threads(id) on delete cascade
);
comment on table agents.turn_tickets is 'who waits for or holds the turn of a thread: the lowest ticket whose lease runs';

create unlogged table agents.chat_hits (
  key text,
  hit_at timestamptz[] not null,
  updated_at timestamptz not null,
  constraint chat_hits_pkey primary key (key)
);
comment on table agents.chat_hits is 'times of admitted messages in the last minute; ''infinity'' marks a refused attempt';

create table agents.thread_memories (
  thread_id bigint,
  summary text not null default '',
  up_to_turn integer not null default 0,
  version integer not null default 1,
  updated_at timestamptz not null default clock_timestamp(),
  constraint thread_memories_pkey primary key (thread_id),
  constraint thread_memories_thread_id_fkey foreign key (thread_id) references agents.threads(id) on delete cascade
);
comment on column agents.thread_memories.up_to_turn is 'last turn that the memory was made from';
comment on column agents.thread_memories.version is 'grows with every change; a job that read an older one writes nothing';

create table agents.memory_facts (
  id bigint generated always as identity,
  agent_id integer not null,
  thread_id bigint not null,
  kind text not null,
  body text not null,
  up_to_turn integer not null,
  created_at timestamptz not null default clock_timestamp(),
  approved_at timestamptz,
  constraint memory_facts_pkey primary key (id),
  constraint memory_facts__kind__check check (kind in ('visitor', 'knowledge')),
  constraint memory_facts_agent_id_fkey foreign key (agent_id) references agents.agents(id) on delete cascade,
  constraint memory_facts_thread_id_fkey foreign key (thread_id) references agents.threads(id) on delete cascade
);
create index memory_facts__thread_id__index on agents.memory_facts (thread_id, kind);
create index memory_facts__agent_id__index on agents.memory_facts (agent_id, id desc) where kind = 'knowledge';
comment on table agents.memory_facts is
  'thread_id is where a fact comes from, knowledge of the agent too: it goes when the thread goes';
comment on column agents.memory_facts.approved_at is 'knowledge only: when an operator let the agent say it; null = nobody has';

create table agents.agent_memories (
  agent_id integer,
  summary text not null default '',
  version integer not null default 1,
  updated_at timestamptz not null default clock_timestamp(),
  constraint agent_memories_pkey primary key (agent_id),
  constraint agent_memories_agent_id_fkey foreign key (agent_id) references agents.agents(id) on delete cascade
);

create table agents.model_usage (
  agent_id integer not null,
  day date not null,
  purpose text not null,
  calls bigint not null default 0,
  failed_calls bigint not null default 0,
  calls_without_usage bigint not null default 0,
  prompt_tokens bigint not null default 0,
  completion_tokens bigint not null default 0,
  duration_ms bigint not null default 0,
  constraint model_usage_pkey primary key (agent_id, day, purpose),
  constraint model_usage__purpose__check check (purpose in ('chat', 'memory')),
  constraint model_usage_agent_id_fkey foreign key (agent_id) references agents.agents(id) on delete cascade
);
comment on column agents.model_usage.calls_without_usage is 'the model did not tell what they cost';

create table agents.telegram_chats (
  id bigint generated always as identity,
  agent_id integer not null,
  chat_id bigint not null,
  migrated_to bigint,
  blocked_at timestamptz,
  blocked_reason text,
  job_id uuid,
  fence bigint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  constraint telegram_chats_pkey primary key (id),
  constraint telegram_chats__agent_id__chat_id__key unique (agent_id, chat_id),
  constraint telegram_chats__migrated_to__check check (migrated_to <> chat_id),
  constraint telegram_chats_agent_id_fkey foreign key (agent_id) references agents.agents(id) on delete cascade
);
comment on column agents.telegram_chats.migrated_to is 'number of the supergroup that the group has become';
comment on column agents.telegram_chats.blocked_at is 'the bot may not write there; null again when somebody writes to it';
comment on column agents.telegram_chats.job_id is 'the one job that works the updates of the chat; null = none waits';
comment on column agents.telegram_chats.fence is 'grows with every attempt: an older attempt writes nothing more';

create table agents.webhook_receipts (
  id bigint generated always as identity (start with 1000000001),
  dedupe_key text not null,
  delivery_id text not null,
  deliveries integer not null default 1,
  received_at timestamptz not null,
  stored_at timestamptz not null default clock_timestamp(),
  stream_sequence bigint not null,
  agent_slug text not null,
  agent_id integer,
  update_id bigint,
  kind text,
  chat_id bigint,
  sender_id bigint,
  chat bigint,
  body bytea,
  outcome text not null,
  message text,
  settles_as text,
  reply_html text,
  echo text,
  processed_at timestamptz,
  body_digest text,
  body_size integer,
  constraint webhook_receipts_pkey primary key (id),
  constraint webhook_receipts__dedupe_key__key unique (dedupe_key),
  constraint webhook_receipts__echo__check check (echo in ('sending', 'sent', 'failed')),
  constraint webhook_receipts_agent_id_fkey foreign key (agent_id) references agents.agents(id) on delete set null,
  constraint webhook_receipts_chat_fkey foreign key (chat) references agents.telegram_chats(id) on delete set null
);
create index webhook_receipts__received_at__index on agents.webhook_receipts (received_at desc, id desc);
create index webhook_receipts__outcome__index on agents.webhook_receipts (outcome, id desc);
create index webhook_receipts__chat_id__index on agents.webhook_receipts (chat_id);
create index webhook_receipts__sender_id__index on agents.webhook_receipts (sender_id);
create index webhook_receipts__chat__index on agents.webhook_receipts (chat, update_id)
    where outcome in ('pending', 'answering');
create index webhook_receipts__bodies__index on agents.webhook_receipts (received_at)
    where body is not null or reply_html is not null;
create index webhook_receipts__passing__index on agents.webhook_receipts (received_at)
    where outcome in ('ignored', 'agent_not_found') or (outcome like 'rejected\_%');
comment on column agents.webhook_receipts.stream_sequence is 'place in the stream of webhooks: the order of acceptance';
comment on column agents.webhook_receipts.chat is 'queue of the chat that works the update; null = it needs no order';
comment on column agents.webhook_receipts.settles_as is 'outcome when every part of reply_html is sent';
comment on column agents.webhook_receipts.body_digest is 'SHA-256 of the body as it came, in hex; null when it was not read';

create table agents.telegram_sends (
  receipt_id bigint not null,
  part integer not null,
  status text not null default 'planned',
  plain boolean not null default false,
  bare boolean not null default false,
  chat_id bigint,
  message_id bigint,
  error text,
  updated_at timestamptz not null default clock_timestamp(),
  constraint telegram_sends_pkey primary key (receipt_id, part),
  constraint telegram_sends__status__check check (status in ('planned', 'sending', 'sent', 'unknown', 'refused', 'blocked', 'given_up')),
  constraint telegram_sends_receipt_id_fkey foreign key (receipt_id)
    references agents.webhook_receipts(id) on delete cascade
);
comment on table agents.telegram_sends is 'parts of replies; written as sending before each call, so that a crash leaves a trace';
comment on column agents.telegram_sends.plain is 'the platform refused the HTML: the visible text is sent';
comment on column agents.telegram_sends.bare is 'sent without topic and without reference to the question';

create table agents.token_budgets (
  agent_id integer,
  day date not null,
  tokens bigint not null,
  constraint token_budgets_pkey primary key (agent_id),
  constraint token_budgets_agent_id_fkey foreign key (agent_id) references agents.agents(id) on delete cascade
);
comment on table agents.token_budgets is 'the latest day (UTC) alone; a call adds an estimate before it and its difference after it';
