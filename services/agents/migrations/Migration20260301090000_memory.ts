import { jobTables } from '#libs/jobs';
import { Migration } from '#libs/orm/migrations';

/** Jobs; a key for each turn that may be asked for twice; memory of threads and agents; what the language model cost. */
export class Migration20260301090000_memory extends Migration {
  override up(): void {
    this.addSql(jobTables('agents'));
    this.addSql(`alter table agents.messages add column turn_key text, add column sender text`);
    this.addSql(`create unique index messages__turn_key__key on agents.messages (turn_key) where turn_key is not null`);
    this.addSql(`create index messages__sender__index on agents.messages (sender) where sender is not null`);
    this.addSql(`comment on column agents.messages.turn_key is 'what the turn answers, of one agent: asked again, it is the same turn'`);
    this.addSql(`comment on column agents.messages.sender is 'who wrote it, where a thread has several writers: telegram:user:<id>'`);
    this.addSql(`
      create table agents.thread_memories (
        thread_id bigint primary key references agents.threads (id) on delete cascade,
        summary text not null default '',
        up_to_turn integer not null default 0,
        version integer not null default 1,
        updated_at timestamptz not null default clock_timestamp()
      )`);
    this.addSql(`comment on column agents.thread_memories.up_to_turn is 'last turn that the memory was made from'`);
    this.addSql(
      `comment on column agents.thread_memories.version is 'grows with every change; a job that read an older one writes nothing'`,
    );
    this.addSql(`
      create table agents.memory_facts (
        id bigint generated always as identity primary key,
        agent_id integer not null references agents.agents (id) on delete cascade,
        thread_id bigint not null references agents.threads (id) on delete cascade,
        kind text not null,
        body text not null,
        up_to_turn integer not null,
        created_at timestamptz not null default clock_timestamp(),
        constraint memory_facts__kind__check check (kind in ('visitor', 'knowledge'))
      )`);
    this.addSql(`create index memory_facts__thread_id__index on agents.memory_facts (thread_id, kind)`);
    this.addSql(`create index memory_facts__agent_id__index on agents.memory_facts (agent_id, id desc) where kind = 'knowledge'`);
    this.addSql(
      `comment on table agents.memory_facts is 'thread_id is where a fact comes from, knowledge of the agent too: it goes when the thread goes'`,
    );
    this.addSql(`
      create table agents.agent_memories (
        agent_id integer primary key references agents.agents (id) on delete cascade,
        summary text not null default '',
        version integer not null default 1,
        updated_at timestamptz not null default clock_timestamp()
      )`);
    this.addSql(`
      create table agents.model_usage (
        agent_id integer not null references agents.agents (id) on delete cascade,
        day date not null,
        purpose text not null,
        calls bigint not null default 0,
        failed_calls bigint not null default 0,
        calls_without_usage bigint not null default 0,
        prompt_tokens bigint not null default 0,
        completion_tokens bigint not null default 0,
        duration_ms bigint not null default 0,
        primary key (agent_id, day, purpose),
        constraint model_usage__purpose__check check (purpose in ('chat', 'memory'))
      )`);
    this.addSql(`comment on column agents.model_usage.calls_without_usage is 'the model did not tell what they cost'`);
  }
}
