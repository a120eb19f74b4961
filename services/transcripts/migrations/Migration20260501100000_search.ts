import { Migration } from '#libs/orm/migrations';

/**
 * Search in what was said (T2, T3): the words of each row that may be found, and of its conversation what decides who may find it.
 * docs/adr/transcript-search.md
 */
export class Migration20260501100000_search extends Migration {
  override up(): void {
    this.addSql(`
      create table transcripts.search_conversations (
        conversation_id integer constraint search_conversations__pkey primary key,
        start_at timestamptz not null,
        has_start boolean not null,
        event_id integer,
        journey_id integer,
        participant_ids integer[] not null default '{}',
        version timestamptz not null
      )`);
    this.addSql(`comment on column transcripts.search_conversations.start_at is 'the year 1 for a conversation without a start'`);
    this.addSql(`comment on column transcripts.search_conversations.version is 'updated_at of the conversation when it was asked'`);
    this.addSql(
      `create index search_conversations__start_at__index on transcripts.search_conversations (start_at desc, conversation_id desc)`,
    );
    this.addSql(`create index search_conversations__event_id__index on transcripts.search_conversations (event_id)`);
    this.addSql(
      `create index search_conversations__participant_ids__index on transcripts.search_conversations using gin (participant_ids)`,
    );
    this.addSql(`
      create table transcripts.search_segments (
        conversation_id integer not null,
        segment_index integer not null,
        start_us bigint not null,
        position integer not null,
        person_id integer not null,
        words tsvector not null,
        constraint search_segments__pkey primary key (conversation_id, segment_index)
      )`);
    this.addSql(`comment on column transcripts.search_segments.segment_index is 'place of the row in the whole transcript, from 0'`);
    this.addSql(`create index search_segments__words__index on transcripts.search_segments using gin (words)`);
    this.addSql(`create index search_segments__person_id__index on transcripts.search_segments (person_id, conversation_id)`);
    this.addSql(`alter table transcripts.search_segments alter column words set statistics 1000`);
  }
}
