import { auditTables } from '#libs/infrastructure/audit';
import { feedTables } from '#libs/infrastructure/feed';
import { failedJobs, sentRemoteJobs, jobAttempts, redactStoredErrors } from '#libs/infrastructure/jobs';
import { OnlineMigration } from '#libs/infrastructure/orm/migrations';
import { receiptSearchIndexes } from '#libs/product/webhooks';

/** Changes from release 0.1.0 to 0.2.0. */
export class Migration20261203090000_release_0_2_0 extends OnlineMigration {
  override up(): void {
    // Audit log
    for (const sql of auditTables('conversations')) this.addSql(sql);

    // What was well signed when it came stays so while secrets are rotated (K8). Of what is there already the signature is checked again.
    this.addSql(`alter table conversations.webhook_receipts add column was_signed boolean not null default false`);

    // Job attempts
    for (const sql of jobAttempts('conversations', 'concurrently')) this.addSql(sql);

    // Receipt search
    for (const sql of receiptSearchIndexes('conversations', true)) this.addSql(sql);

    // Feed
    for (const sql of feedTables('conversations')) this.addSql(sql);

    // Handed over jobs
    for (const sql of sentRemoteJobs('conversations')) this.addSql(sql);

    // Conversations in a seldom step are found by the step, from either side (P5).
    this.addSql(
      'create index concurrently pipeline_entries__step_id__index on conversations.pipeline_entries (step_id, id)',
    );
    this
      .addSql(`create index concurrently all_conversations__step_id__index on conversations.all_conversations (step_id)
      where step_id is not null and deleted_at is null`);

    // Failed jobs
    for (const sql of failedJobs('conversations', 'concurrently')) this.addSql(sql);

    // Who a booking names, each attendee with the event that decided last (D78, D102); on whose hooks it came and by which numbers it may be found there (D79); and requests that link a booking to the one that follows it. Numbers stay in `booking_identifiers` as well for the previous release.
    for (const sql of [bookingColumns, bookingIndex, attendees, hosts, references, links].flat()) this.addSql(sql);
    this.addBackfill({
      table: 'conversations.bookings',
      key: 'id',
      sql: `insert into conversations.booking_references (identifier, booking_id)
        select identifier, booking_id from conversations.booking_identifiers
        where booking_id > $1 and booking_id <= $2 and left(identifier, 4) <> 'uid:'
        on conflict do nothing`,
    });
    this.addBackfill({
      table: 'conversations.webhook_receipts',
      key: 'id',
      sql: `insert into conversations.booking_hosts (booking_id, person_id)
        select distinct b.id, r.person_id::integer from conversations.webhook_receipts r
          join conversations.bookings b on b.conversation_id = r.conversation_id
          where r.id > $1 and r.id <= $2 and r.source = 'booking' and r.person_id ~ '^[1-9][0-9]{0,8}$'
        on conflict do nothing`,
    });
    this.addBackfill({
      table: 'conversations.bookings',
      key: 'id',
      sql: `insert into conversations.booking_hosts (booking_id, person_id)
        select b.id, c.participant_ids[1] from conversations.bookings b join conversations.conversations c on c.id = b.conversation_id
          where b.id > $1 and b.id <= $2 and cardinality(c.participant_ids) > 0
        on conflict do nothing`,
    });

    // Receipts of one booking are worked in the order in which they were received (D80): those that wait are found by what names it.
    this
      .addSql(`create index concurrently webhook_receipts__pending_identifiers__index on conversations.webhook_receipts using gin (identifiers)
      with (fastupdate = off) where outcome = 'pending'`);

    // Pipeline entries are listed by the time of the entry, also those of one step (D98).
    this.addSql(
      'create index concurrently pipeline_entries__step_id_entered_at__index on conversations.pipeline_entries (step_id, entered_at, id)',
    );
    this.addSql('drop index concurrently conversations.pipeline_entries__step_id__index');

    // Job errors of earlier releases, without secrets.
    this.addWork((query) => redactStoredErrors('conversations', query));

    // When each attendee asked for another time (D79, D102); of requests of the previous release `created_at` counts.
    this.addSql(`alter table conversations.booking_links add column requested jsonb not null default '{}'`);
  }
}

const bookingColumns = `alter table conversations.bookings
  add column has_seats boolean not null default false,
  add column seats_since timestamptz,
  add column requested_at timestamptz,
  add column former_conversation_id integer,
  add column was_erased_from boolean not null default false`;

const bookingIndex = `create index concurrently bookings__requested_at__index on conversations.bookings (requested_at) where requested_at is not null`;

const attendees = [
  `create table conversations.booking_attendees (
    booking_id integer not null references conversations.bookings on delete cascade,
    attendee text not null,
    person_id integer,
    state text not null constraint booking_attendees__state__check check (state in ('in', 'moved', 'gone')),
    at timestamptz not null,
    primary key (booking_id, attendee)
  )`,
  `comment on column conversations.booking_attendees.attendee is 'digest of the email, the phone number or the name'`,
  `create index booking_attendees__person_id__index on conversations.booking_attendees (person_id)`,
];

const hosts = [
  `create table conversations.booking_hosts (
    booking_id integer not null references conversations.bookings on delete cascade,
    person_id integer not null,
    primary key (booking_id, person_id)
  )`,
  `create index booking_hosts__person_id__index on conversations.booking_hosts (person_id)`,
];

const references = [
  `create table conversations.booking_references (
    identifier text not null,
    booking_id integer not null references conversations.bookings on delete cascade,
    primary key (identifier, booking_id)
  )`,
  `create index booking_references__booking_id__index on conversations.booking_references (booking_id)`,
];

const links = [
  `create table conversations.booking_links (
    uid text not null,
    former_uid text not null,
    attendees text[] not null default '{}',
    created_at timestamptz not null default clock_timestamp(),
    primary key (uid, former_uid)
  )`,
  `create index booking_links__former_uid__index on conversations.booking_links (former_uid)`,
];
