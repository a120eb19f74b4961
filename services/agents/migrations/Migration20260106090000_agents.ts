import { Migration } from '#libs/orm/migrations';

/** Agents, their chat threads with messages, the queue of turns per thread, and the counters of the chat's rate limit. */
export class Migration20260106090000_agents extends Migration {
  override up(): void {
    this.addSql(`
      create table agents.agents (
        id integer generated always as identity primary key,
        slug text not null,
        name text not null,
        prompt text not null default '',
        infos jsonb not null default '{}',
        config jsonb not null default '{}',
        created_at timestamptz not null default clock_timestamp(),
        updated_at timestamptz not null default clock_timestamp(),
        constraint agents__slug__key unique (slug),
        constraint agents__infos__check check (jsonb_typeof(infos) = 'object'),
        constraint agents__config__check check (jsonb_typeof(config) = 'object')
      )`);
    this.addSql(`comment on column agents.agents.config is 'messaging secrets and settings; never served'`);
    this.addSql(`
      create table agents.threads (
        id bigint generated always as identity primary key,
        agent_id integer not null references agents.agents (id) on delete cascade,
        thread_key text not null,
        channel text not null,
        visitor_id text,
        turn_count integer not null default 0,
        last_ticket bigint not null default 0,
        created_at timestamptz not null default clock_timestamp(),
        updated_at timestamptz not null default clock_timestamp(),
        constraint threads__thread_key__key unique (thread_key),
        constraint threads__agent_id__visitor_id__key unique (agent_id, visitor_id),
        constraint threads__channel__check check (channel in ('web', 'telegram')),
        constraint threads__visitor_id__check check ((channel = 'web') = (visitor_id is not null))
      )`);
    this.addSql(`comment on column agents.threads.visitor_id is 'unguessable; whoever knows it may go on with the thread (D33a)'`);
    this.addSql(`
      create table agents.messages (
        id bigint generated always as identity primary key,
        thread_id bigint not null references agents.threads (id) on delete cascade,
        turn integer not null,
        note_type text not null,
        body text not null,
        html text not null,
        created_at timestamptz not null,
        constraint messages__thread_id__turn__note_type__key unique (thread_id, turn, note_type),
        constraint messages__note_type__check check (note_type in ('chat_visitor', 'chat_agent'))
      )`);
    this.addSql(`comment on table agents.messages is 'a turn is one chat_visitor and one chat_agent message, written together'`);
    this.addSql(`
      create table agents.turn_tickets (
        thread_id bigint not null references agents.threads (id) on delete cascade,
        ticket bigint not null,
        lease_until timestamptz not null,
        primary key (thread_id, ticket)
      )`);
    this.addSql(
      `comment on table agents.turn_tickets is 'who waits for or holds the turn of a thread: the lowest ticket whose lease runs'`,
    );
    this.addSql(`
      create unlogged table agents.chat_hits (
        key text primary key,
        hit_at timestamptz[] not null,
        updated_at timestamptz not null
      )`);
    this.addSql(
      `comment on table agents.chat_hits is 'times of admitted messages in the last minute; ''infinity'' marks a refused attempt'`,
    );
  }
}
