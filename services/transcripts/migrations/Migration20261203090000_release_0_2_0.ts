import { auditTables } from '#libs/infrastructure/audit';
import { feedTables } from '#libs/infrastructure/feed';
import { failedJobs, sentRemoteJobs, jobAttempts, redactStoredErrors } from '#libs/infrastructure/jobs';
import { OnlineMigration } from '#libs/infrastructure/orm/migrations';

const signs = String.raw`\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff`;

/** Changes from release 0.1.0 to 0.2.0. */
export class Migration20261203090000_release_0_2_0 extends OnlineMigration {
  override up(): void {
    // Audit log
    for (const sql of auditTables('transcripts')) this.addSql(sql);

    // Search in what was said (T2, T3): the words of each row that may be found, and of its conversation what decides who may find it. docs/adr/transcript-search.md
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
    this.addSql(
      `comment on column transcripts.search_conversations.start_at is 'the year 1 for a conversation without a start'`,
    );
    this.addSql(
      `comment on column transcripts.search_conversations.version is 'updated_at of the conversation when it was asked'`,
    );
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
    this.addSql(
      `comment on column transcripts.search_segments.segment_index is 'place of the row in the whole transcript, from 0'`,
    );
    this.addSql(`create index search_segments__words__index on transcripts.search_segments using gin (words)`);
    this.addSql(
      `create index search_segments__person_id__index on transcripts.search_segments (person_id, conversation_id)`,
    );
    this.addSql(`alter table transcripts.search_segments alter column words set statistics 1000`);

    // Job attempts
    for (const sql of jobAttempts('transcripts', 'concurrently')) this.addSql(sql);

    // Feed
    for (const sql of feedTables('transcripts')) this.addSql(sql);

    // What was said in conversations of a journey is found without reading the facts of all of them (T3).
    this.addSql(
      `create index search_conversations__journey_id__index on transcripts.search_conversations (journey_id)`,
    );

    // Handed over jobs
    for (const sql of sentRemoteJobs('transcripts')) this.addSql(sql);

    // Failed jobs
    for (const sql of failedJobs('transcripts', 'concurrently')) this.addSql(sql);

    // Who was erased or merged, so that what an import stores later is nobody's words or those of who stays; and speakers who were erased.
    this.addSql(`create table transcripts.gone_people (
      person_id integer not null,
      into_id integer,
      gone_at timestamptz not null default clock_timestamp(),
      constraint gone_people__person_id__primary primary key (person_id)
    )`);
    this.addSql(
      `create index gone_people__into_id__index on transcripts.gone_people (into_id) where into_id is not null`,
    );
    this.addSql(`comment on column transcripts.gone_people.into_id is 'who stays after a merge; null = erased'`);
    this.addSql(`alter table transcripts.speakers add column erased boolean not null default false`);
    this.addSql(
      `comment on column transcripts.speakers.erased is 'a person who was erased: another import stores neither words nor name'`,
    );

    // Format of the artifact that an import read; null for audio, and for imports of earlier releases.
    this.addSql(`alter table transcripts.import_evidence add column artifact_format text`);

    // Apostrophes that Unicode counts among the letters end a word like all others (D87): transcripts that have one are indexed again.
    const has = ['ʹ', 'ʻ', 'ʼ', 'ŉ'].map((letter) => `r.text like '%${letter}%'`).join(' or ');
    this.addBackfill({
      table: 'transcripts.search_conversations',
      key: 'conversation_id',
      sql: `delete from transcripts.search_conversations s where s.conversation_id > $1 and s.conversation_id <= $2
        and exists (select from transcripts.transcript_rows r where r.conversation_id = s.conversation_id and (${has}))`,
    });

    // Job errors of earlier releases, without secrets.
    this.addWork((query) => redactStoredErrors('transcripts', query));

    // Invisible characters within a word no longer split it (D87): transcripts that contain one are indexed again.
    this.addBackfill({
      table: 'transcripts.search_conversations',
      key: 'conversation_id',
      sql: `delete from transcripts.search_conversations s where s.conversation_id > $1 and s.conversation_id <= $2
        and exists (select from transcripts.transcript_rows r where r.conversation_id = s.conversation_id and r.text ~ '[${signs}]')`,
    });
  }
}
